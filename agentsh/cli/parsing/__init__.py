"""ARGV → VALUES: which commands there are, what each takes, declared without typer.

Must not know: settings, sessions.
Read first: program.py, words.py, options.py, modeloptions.py.
"""
