"""BYTES TO AND FROM AN MCP SERVER: a child's pipes, or HTTP; messages that are bounded.

Must not know: tools, lists, what a message means. Read first: pipes.py, web.py, child.py.
"""
