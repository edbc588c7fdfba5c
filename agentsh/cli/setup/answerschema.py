"""`--output-schema FILE`: the JSON Schema in a file, ready to check answers by.

It stands alone because it loads a library that no other run needs (docs/adr/0005). What is no
schema is an error before anything is sent. Read next: agent/structured/validator.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from agentsh.agent.structured.answers import AnswerSchema
from agentsh.agent.structured.validator import answer_schema
from agentsh.errors import UsageError
from agentsh.files import NotRegularError, TooLargeError, from_home, read_foreign
from agentsh.jsontext import DEEPEST_FOREIGN, JsonError, loads

_MOST: Final = 256 * 1024
_MARK: Final = b"\xef\xbb\xbf"


def read_schema(name: str, cwd: Path) -> AnswerSchema:
    """Raises UsageError: there is no such file, or it holds none."""
    try:
        data = read_foreign(Path(cwd, from_home(name)), _MOST)
    except NotRegularError:
        raise UsageError(f"{name} is no regular file") from None
    except TooLargeError:
        raise UsageError(f"{name} has more than {_MOST} bytes, which is the most") from None
    except OSError as e:
        hint = "--output-schema takes a file" if name.lstrip().startswith("{") else None
        raise UsageError(f"{name} cannot be read: {e.strerror}", hint=hint) from e
    try:
        value = loads(data.removeprefix(_MARK), deepest=DEEPEST_FOREIGN)
    except JsonError as e:
        raise UsageError(f"{name} is no JSON: {e}") from e
    return answer_schema(value, name)
