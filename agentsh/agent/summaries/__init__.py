"""SUMMARIES AND TITLES, ASKED FOR: compaction, branch summaries, automatic titles.

Must not know: where a compaction cuts and what a summariser is told (context/summaries).
Read first: requests.py, compactor.py, titler.py.
"""
