"""argv, environment, exit codes. The only home of typer and os.environ; the composition root.

A command's body begins with its imports, and only there (docs/adr/0005).
Read first: app.py, cli/parsing/program.py, cli/assembly/wiring.py; then one command a file.
"""
