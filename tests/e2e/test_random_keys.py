"""Whatever is typed into the real chat and its tree, in whatever order and pieces: no bug exit."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
from pathlib import Path

import pytest

from tests.support.endpoint import Endpoint, calls, serve, text
from tests.support.terminal import PtyTerminal, pty_terminal
from tests.ui.chat.test_repl import surroundings

SEEDS = range(12)
BURSTS = 40
_EXAMPLES = sorted((Path(__file__).parents[2] / "sessions.example").glob("*.jsonl"))

# not Ctrl-S: once the chat has given the terminal back, that stops what it still says
_CONTROLS = [chr(c) for c in range(1, 32) if chr(c) not in "\x13\x1a\x1b"]
_LETTERS = [*"abcdefghijklmnopqrstuvwxyz0123456789 ?@#/.:-_=+*&%$'\"()[]{}<>|~^", "é", "漢", "👩‍🚀"]
# what a hand types in one go; commands that run something are named here and nowhere else
_TYPED = [
    "herons", "two words\r", "!echo one\r", "!!echo two\r", "@", "@note\t", "\\\r", "![a](b.png)",
    "/tree\r", "/help\r", "/hotkeys\r", "/settings\r", "/sessions\r", "/fold\r", "/compact\r",
    "/diff\r", "/undo\r", "/label here\r", "/name a name\r", "/copy\r", "/cost\r", "/export\r",
    "/checkout root\r", "/new\r", "/btw why\r", "/context\r", "/theme none\r", "/thinking high\r",
    "/fork\r", "/search herons\r", "/queue\r", "/nothing\r", "/", "/t", "\x1b\x1b", "y", "n", "p",
]  # fmt: skip
_SEQUENCES = [
    *(f"\x1b[{c}" for c in "ABCDHFZIO"), *(f"\x1b[1;{m}{c}" for m in (2, 3, 5) for c in "ABCDHF"),
    *(f"\x1b[{n}~" for n in (1, 2, 3, 4, 5, 6, 15, 200, 201, 999)), "\x1bOA", "\x1bOP", "\x1b[[A",
    "\x1b[97;5u", "\x1b[13;2u", "\x1b[27;5;97~", "\x1b[?1;2c", "\x1b]11;rgb:00/00/00\x1b\\",
    "\x1b]52;c;aGk=\x07", "\x1bP1+r\x1b\\", "\x1b_Gi=1;OK\x1b\\", "\x1b[M !!", "\x1b[<0;3;3M",
    "\x1b[24;80R", "\x1b[200~one\r!two\r\tthree\x1b[201~", "\x1b[200~/x.png\x1b[201~", "\x1b",
    *(f"\x1b{c}" for c in "abdefmnpx\r\x7f"), "\x7f", "\udc9b", "\udcff",
]  # fmt: skip


# told to end; Ctrl-C and Ctrl-\ are signals while the terminal is not the chat's, between two views
_TOLD = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT)
_ENDS = {0, *(128 + sign for sign in _TOLD), *(-sign for sign in _TOLD)}


def burst(chance: random.Random) -> str:
    """Some keys, cut anywhere; a cut one goes on as whatever comes next."""
    kinds = (_LETTERS, _CONTROLS, _TYPED, _SEQUENCES)
    keys = "".join(
        chance.choice(chance.choices(kinds, (4, 1, 2, 3))[0]) for _ in range(chance.randint(1, 12))
    )
    return keys[: chance.randint(1, len(keys))] if chance.random() < 0.3 else keys


def press(terminal: PtyTerminal, chance: random.Random) -> None:
    """Bursts of keys, now and then with another size of the window, until it ends by itself."""
    for _ in range(BURSTS):
        if terminal.process.poll() is not None:
            return
        if chance.random() < 0.1:
            terminal.resize(chance.randint(1, 60), chance.randint(1, 200))
        terminal.send(burst(chance))
        if chance.random() < 0.3:
            terminal.quiet(0.1)


def answers(endpoint: Endpoint) -> None:
    endpoint.script = [
        text("# A heading\n\n```sh\nls\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"),
        calls(("call_1", "write", {"path": "new.txt", "content": "x"})),
        text("written"),
        calls(("call_2", "bash", {"command": "touch asked"})),
        text("well"),
    ]


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("seed", SEEDS)
def test_no_keys_end_a_chat_as_a_bug_and_the_terminal_is_given_back(
    tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir(mode=0o700)
    project.mkdir()
    (project / "note.md").write_text("herons\n")
    file = tmp_path / "talk.jsonl"
    shutil.copy(chance.choice(_EXAMPLES), file)
    env = {**surroundings(tmp_path), "AGENTSH_HOME": str(home), "EDITOR": "/bin/true"}
    with serve(text("well")) as endpoint:
        answers(endpoint)
        (home / "config.toml").write_text(
            f'[endpoint]\nbase_url = "{endpoint.base_url}"\nmodel = "m"\n'
        )
        argv = [sys.executable, "-m", "agentsh", "chat", "--session", str(file)]
        with pty_terminal(argv, env=env, cwd=project, rows=24, columns=80) as terminal:
            terminal.ready()
            press(terminal, chance)
            if terminal.process.poll() is None:
                os.kill(terminal.process.pid, signal.SIGTERM)
            code = terminal.ends(20)
            told = (seed, code, _crash(home), terminal.everything[-2000:])

            assert not _crash(home), told
            assert code in _ENDS, told
            assert not terminal.reads_keys(), told


def _crash(home: Path) -> str:
    return "".join(path.read_text("utf-8", "replace") for path in home.glob("logs/crash-*"))
