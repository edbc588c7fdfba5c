"""What `/mcp` takes: nothing, or the server that is to be ended."""

from __future__ import annotations

import pytest

from agentsh.ui.input.commands import server_words
from tests.ui.input.test_commands import run


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/mcp", "servers None"),
        ("/mcp restart o.ther", "servers o.ther"),
        ("/mcp restart", "/mcp restart NAME"),
        ("/mcp dance", "/mcp restart NAME"),
    ],
)
def test_servers_are_listed_or_one_is_ended(line: str, said: str) -> None:
    assert said in run(line)[1]


def test_a_server_is_named_as_it_is_written() -> None:
    assert server_words("restart  o.ther ") == ("o.ther",)
    assert server_words("") == (None,)
    assert server_words("restart ") is None
