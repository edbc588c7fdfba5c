"""A prompt may begin with a dash: what is said then, and what helps."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import agentsh
from tests.support.endpoint import serve, text


@pytest.mark.parametrize(
    ("words", "helps"),
    [
        (["run", "--fix this"], "agentsh run -- '--fix this'"),
        (["run", "-m", "m", "- one\n- two"], r"agentsh run -- $'- one\n- two'"),
        (["run", "-m", "m", "--fix"], "agentsh run -- --fix"),
        (["run", "-market is down"], "agentsh run -- '-market is down'"),
        (["--fix this"], "agentsh chat -- '--fix this'"),
        (["search", "--frozen lake"], "agentsh search -- '--frozen lake'"),
        (["sessions", "tag", "last", "-urgent"], "agentsh sessions tag -- -urgent"),
        (["rename", "last", "-x\x1b[2J y"], r"agentsh rename -- $'-x\033[2J y'"),
    ],
)
def test_u22_what_begins_with_a_dash_is_refused_with_the_way_to_say_it(
    tmp_path: Path, clean_environment: Path, words: list[str], helps: str
) -> None:
    ended = agentsh(*words, cwd=tmp_path)

    assert (ended.code, ended.out) == (2, "")
    assert helps in ended.err


@pytest.mark.parametrize(
    "words",
    [["run"], ["run", "-m"], ["run", "--max-steps=x", "hi"], ["nosuch"], ["run", "-mm"], ["fork"]],
)
def test_u22_no_other_wrong_use_speaks_of_dashes(
    tmp_path: Path, clean_environment: Path, words: list[str]
) -> None:
    ended = agentsh(*words, cwd=tmp_path)

    assert ended.code == 2
    assert "dash" not in ended.err


@pytest.mark.parametrize("prompt", ["--fix this", "-", "- one\n- two", "--help"])
def test_u22_after_two_dashes_every_word_is_a_prompt(
    tmp_path: Path, clean_environment: Path, prompt: str
) -> None:
    with serve(text("well")) as endpoint:
        ended = agentsh(
            "run", "-m", "m", "--base-url", endpoint.base_url, "--", prompt, cwd=tmp_path
        )
        if prompt == "-":  # which is standard input, in any place
            assert ended.code != 0
            return
        assert (ended.code, ended.out) == (0, "well\n")
        assert prompt in endpoint.requests[0].raw.decode().replace("\\n", "\n")
