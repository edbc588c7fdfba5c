"""WHO ANSWERS: endpoints, their wire forms, their faults. The only home of httpx.

Must not know: sessions, tools' implementations, terminals.
Read first: base.py (the seam), providers/wire/sse.py and providers/api/chat.py (sans-IO),
http.py (IO).
"""
