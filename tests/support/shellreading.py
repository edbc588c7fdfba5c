"""What a real shell makes of a line that is printed to be pasted."""

from __future__ import annotations

import subprocess

from hypothesis import strategies as st

# an argument holds no NUL; what is no UTF-8 in a name is in Python's text as U+DC80 to U+DCFF
WORDS = st.text(
    st.characters(exclude_characters="\0", exclude_categories=["Cs"])
    | st.sampled_from([*"'\\$`\"! ~#*\n\r\t\x1b\u202e", "\udc80", "\udcff"]),
    min_size=1,
    max_size=20,
)
"""Words that a command line can hold, odd ones more often."""


def words_of_a_shell(line: str) -> list[str]:
    """The words of the command, as bash reads it; `line` is what a terminal would be given."""
    assert "\n" not in line
    asked = f"printf '%s\\0' {line}"
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-c", asked], capture_output=True, check=True
    )
    return [w.decode("utf-8", "surrogateescape") for w in done.stdout.split(b"\0")[:-1]]
