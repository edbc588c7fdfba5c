"""A copy's original is reached by nothing that names it, however it is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentsh.tools.approval.original import OriginalFolder

ORIGINAL = OriginalFolder(Path("/home/a/p"), Path("/home/a/data/1/work"), Path("/home/a"))
INSIDE = OriginalFolder(Path("/home/a/p"), Path("/home/a/p/own/1/work"), Path("/home/a"))


@pytest.mark.parametrize(
    ("touched", "arguments", "reached"),
    [
        (["/home/a/p/x.py"], "", True),
        (["/home/a/data/1/work/x.py"], '{"path":"x.py"}', False),
        ([], '{"command":"cat /home/a/p/x.py"}', True),
        ([], '{"command":"cd /home/a/p && ls"}', True),
        ([], '{"command":"ls /home/a/p"}', True),
        ([], '{"command":"ls ~/p"}', True),
        ([], '{"command":"ls $HOME/p; ls ${HOME}/p"}', True),
        ([], '{"command":"ls /home/a/p2 /home/a/p.bak /home/a/p-old"}', False),
        ([], '{"command":"pytest -q"}', False),
    ],
)
def test_by_paths_and_by_words(touched: list[str], arguments: str, reached: bool) -> None:
    assert ORIGINAL.is_reached([Path(each) for each in touched], arguments) is reached


def test_a_copy_that_lies_in_its_original_is_the_copy() -> None:
    work = str(INSIDE.copy)

    assert not INSIDE.is_reached([INSIDE.copy / "x.py"], f'{{"command":"cat {work}/x.py"}}')
    assert INSIDE.is_reached([], f'{{"command":"cp {work}/x.py /home/a/p/x.py"}}')
