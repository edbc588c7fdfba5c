"""A SESSION FOR PEOPLE: Markdown, one page of HTML, and what is taken out on the way.

Must not know: terminals.
Read first: document.py, html.py, markdown.py, redact.py.
"""
