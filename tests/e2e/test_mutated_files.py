"""Whatever a session file holds, a command does what it can or says why not: no bug exit."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.program import agentsh
from tests.session.sealed import lines_of, write_lines
from tests.support.endpoint import Endpoint, serve, text
from tests.support.longer_sessions import NAMES, write
from tests.support.mutated import mutated

_FILES = (
    *sorted((Path(__file__).parents[2] / "sessions.example").glob("*.jsonl")),
    *sorted((Path(__file__).parents[1] / "data/formats").glob("*.jsonl")),
)
FILES_A_SEED = 30


@pytest.fixture
def endpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    monkeypatch.setenv("AGENTSH_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("AGENTSH_MODEL", "a-model")
    with serve(text("an answer")) as served:
        monkeypatch.setenv("OPENAI_BASE_URL", served.base_url)
        yield served


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_no_command_ends_as_a_bug_whatever_the_file_holds(
    tmp_path: Path, endpoint: Endpoint, seed: int
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    sessions = [path.read_bytes().splitlines() for path in _FILES]
    sessions += [lines_of(write(name, folder, endpoint)) for name in NAMES]
    chance = random.Random(seed)
    for number in range(FILES_A_SEED):
        lines = mutated(chance, chance.choice(sessions))
        place = tmp_path / f"{number}.jsonl"
        for words in _commands(place, tmp_path / f"out-{number}", chance):
            write_lines(place, lines)
            ended = agentsh(*words, cwd=folder)
            assert ended.code != 70, (seed, number, words, _crash(tmp_path), b"\n".join(lines))


def _commands(place: Path, out: Path, chance: random.Random) -> Iterator[tuple[str, ...]]:
    """All that look, and two of those that write."""
    file = str(place)
    yield ("show", file)
    for view in ("model", "trace", "raw"):
        yield ("show", file, "--view", view)
        yield ("show", file, "--view", view, "--json")
    yield ("tree", file, "--plain")
    yield ("tree", file, "--json")
    yield ("verify", file)
    yield ("lineage", file)
    yield ("cost", file)
    yield ("replay", file, "--check")
    yield ("diff", file, "root", "leaf")
    changing = [
        ("run", "--session", file, "go on"),
        ("run", "--fork", file, "go on"),
        ("compact", file),
        ("fork", file),
        ("import", file),
        ("repair", file, "--to", f"{out}.jsonl"),
        ("checkout", file, "root"),
        ("label", file, "leaf", "a-label"),
        ("rename", file, "a name"),
        *(("export", file, "--to", f"{out}.{kind}") for kind in ("md", "html", "jsonl")),
    ]
    yield from chance.sample(changing, 5)


def _crash(folder: Path) -> str:
    logs = sorted((folder / "home/logs").glob("crash-*"))
    return logs[-1].read_text("utf-8", "replace") if logs else ""
