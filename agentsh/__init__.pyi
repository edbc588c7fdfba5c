from agentsh.cli.assembly.scripting.session import ScriptSession as Session
from agentsh.errors import AgentshError as AgentshError
from agentsh.messages import Image as Image
from agentsh.remote.python.marking import tool as tool
from agentsh.remote.python.values import Answer as Answer
from agentsh.remote.python.values import CallDeniedError as Denied
from agentsh.remote.python.values import CallQuestion as Request
from agentsh.remote.python.values import TurnError as TurnError
from agentsh.remote.python.values import TurnNews as Event

__version__: str

__all__ = [
    "AgentshError",
    "Answer",
    "Denied",
    "Event",
    "Image",
    "Request",
    "Session",
    "TurnError",
    "tool",
]
