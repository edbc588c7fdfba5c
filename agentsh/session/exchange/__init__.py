"""ONE FILE OUT OF ANOTHER: imports, lines for Pi, subsets, forks and their lineage, salvage.

Must not know: the agent, tools, terminals. Nothing that a foreign file says grants anything.
Read first: importing.py, foreign.py; fork.py, salvage.py.
"""
