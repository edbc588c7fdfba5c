"""The head of a GGUF file: how much the model holds, and whether its template knows tools.

Only the metadata in front of the weights is read. A file that is none, or that ends too early, is
an error with its name; what is not understood is left out, never guessed.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias

from msgspec import Struct

from agentsh.errors import UsageError
from agentsh.files import open_foreign

_SCALARS: Final = {
    0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d",
}  # fmt: skip
_STRING: Final = 8
_ARRAY: Final = 9
_LONGEST: Final = 16 << 20

_Value: TypeAlias = int | float | str | None


class GgufHead(Struct, frozen=True):
    name: str = ""
    context_length: int | None = None
    """What it was trained on."""
    calls_tools: bool | None = None
    """Its chat template mentions tools; None where it has no template."""


def read_head(path: Path) -> GgufHead:
    """Raises UsageError when it is no GGUF file."""
    try:
        with open_foreign(path) as file:
            if file.read(4) != b"GGUF":
                raise UsageError(f"{path}: not a GGUF file")
            return _head(file)
    except OSError as e:
        raise UsageError(f"{path}: cannot be read: {e.strerror}") from e
    except (struct.error, ValueError) as e:
        raise UsageError(f"{path}: a damaged GGUF file: {e}") from e


def _head(file: BinaryIO) -> GgufHead:
    _scalar(file, "I")  # version
    _scalar(file, "Q")  # tensors
    name, window, template = "", None, None
    for _ in range(int(_scalar(file, "Q"))):
        key = _string(file)
        value = _value(file, int(_scalar(file, "I")))
        if key == "general.name" and isinstance(value, str):
            name = value
        elif key.endswith(".context_length") and isinstance(value, int):
            window = value
        elif key == "tokenizer.chat_template" and isinstance(value, str):
            template = value
    return GgufHead(name, window, None if template is None else "tools" in template)


def _scalar(file: BinaryIO, form: str) -> int | float:
    form = "<" + form
    number: int | float = struct.unpack(form, file.read(struct.calcsize(form)))[0]
    return number


def _string(file: BinaryIO) -> str:
    size = int(_scalar(file, "Q"))
    if size > _LONGEST:
        raise ValueError(f"a string of {size} bytes")
    return file.read(size).decode("utf-8", "replace")


def _value(file: BinaryIO, kind: int) -> _Value:
    if kind == _STRING:
        return _string(file)
    if kind == _ARRAY:
        inner, count = int(_scalar(file, "I")), int(_scalar(file, "Q"))
        if inner in _SCALARS:
            file.seek(struct.calcsize("<" + _SCALARS[inner]) * count, 1)
        else:
            for _ in range(count):
                _value(file, inner)
        return None
    if kind not in _SCALARS:
        raise ValueError(f"a value of kind {kind}")
    return _scalar(file, _SCALARS[kind])
