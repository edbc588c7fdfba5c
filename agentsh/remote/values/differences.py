"""What differs between two places of a session, as a value. Pure.

As lines it is ui/text/differences.py's; what differs is agent/files/differences.py's.
It stands alone: whoever asks for it loads no other value.
"""

from __future__ import annotations

from agentsh.agent.files.differences import Differences
from agentsh.jsontext import JsonObject, JsonValue
from agentsh.session.format.entries import SessionId
from agentsh.views.sessionviews import chat_view


def differences_json(session: SessionId, differences: Differences) -> JsonObject:
    messages: JsonObject = {
        "a": chat_view(differences.only_a),
        "b": chat_view(differences.only_b),
    }
    files: list[JsonValue] = [{"path": c.path, "kind": c.kind} for c in differences.files]
    return {
        "session": session,
        "a": differences.a,
        "b": differences.b,
        "common": differences.common,
        "messages": messages,
        "files": files,
        "patch": differences.patch,
        "notices": list(differences.notices),
    }
