"""BRANCHES ON OTHER MACHINES: what they are given, what comes back, and who is lost on the way.

A machine there runs the same runners as here, behind the same seam (explore/running/worker.py): it
gets the bases as one pack, and gives back session lines as they are written and results as git
objects.
Must not know: the log, limits, a screen. Only onray.py knows Ray, and it is loaded when asked for.
Read first: machine.py, mounts.py, packing.py; crew.py, arrivals.py, onray.py.
"""
