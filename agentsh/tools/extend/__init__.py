"""THE USER'S OWN TOOLS AND HOOKS: as Python plugins or as commands of the settings.

Must not know: agents and sessions.
Read first: plugins.py, commandtool.py, commandhook.py; the loader is tools/plugin_loader.py.
"""
