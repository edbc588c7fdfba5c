"""agentsh: a coding-agent shell whose history is a tree you can trust.

Read next: docs/architecture.md, then messages.py → session/entries.py → session/tree.py →
context/projection.py → providers/base.py → agent/loop.py. This module imports nothing.
"""

__version__ = "0.1.0"
