"""The README's set-up commands: the lines of its fenced `sh` blocks under the heading "Set-up".

Run by .ci/run, which executes each of them in a fresh clone, and by tests/test_docs.py.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path


def setup_commands(readme: str) -> list[str]:
    """Each line of the fenced blocks in the section "Set-up"."""
    found = re.search(r"(?ms)^## Set-up\n(.*?)(?=^## |\Z)", readme)
    section = found[1] if found else ""
    blocks = re.findall(r"(?ms)^```sh\n(.*?)^```", section)
    return [line for block in blocks for line in block.split("\n") if line.strip()]


if __name__ == "__main__":
    print("\n".join(setup_commands(Path(sys.argv[1]).read_text("utf-8"))))
