"""HOW BRANCHES RUN: the coordinator, its workers, and the runner of one branch.

Must not know: argv, a screen, how an agent is made. The log is written by the coordinator alone.
Read first: lines.py, then coordinator.py, permits.py, jobs.py; worker.py, local.py; runner.py,
gate.py, checking.py.
"""
