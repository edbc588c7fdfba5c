"""WHO ANSWERS: endpoints, their wire forms, their faults. The only home of httpcore.

Must not know: sessions, tools' implementations, terminals.
Read first: base.py (the seam), then sse.py and chat.py (sans-IO), then http.py (IO).
"""
