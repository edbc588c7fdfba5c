"""`agentsh search`: what goes to stdout and what to stderr, its filters, and odd queries."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentsh.cli.when import since, until
from agentsh.errors import UsageError
from tests.cli.program import agentsh, make_talk

NOW = 1_767_225_600.0  # 2026-01-01


def found(*words: str, cwd: Path) -> list[dict[str, object]]:
    ended = agentsh("search", "--json", *words, cwd=cwd)
    assert ended.code == 0, ended.err
    value = ended.json()
    assert isinstance(value, list)
    return value


def test_a_hit_says_where_it_is(tmp_path: Path) -> None:
    talk = make_talk(tmp_path, "alpha kestrel", "beta")

    (hit,) = found("kestrel", "--role", "user", cwd=tmp_path)

    assert hit["session"] == talk.id
    assert hit["path"] == str(talk.path)
    assert hit["entry"] == talk.ids["alpha kestrel"]
    assert hit["role"] == "user"
    assert hit["text"] == "alpha kestrel"
    assert hit["onPath"] is True


def test_nothing_found_is_an_empty_list_and_no_failure(tmp_path: Path) -> None:
    make_talk(tmp_path, "alpha")

    assert found("nosuchword", cwd=tmp_path) == []
    ended = agentsh("search", "nosuchword", cwd=tmp_path)
    assert (ended.code, ended.out) == (0, "")
    assert "nothing was found" in ended.err


def test_all_folders_unless_one_is_named(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
        make_talk(folder, f"kestrel of {folder.name}")

    assert len(found("kestrel", "--role", "user", cwd=one)) == 2
    (hit,) = found("kestrel", "--role", "user", "--project", "../two", cwd=one)
    assert hit["cwd"] == str(two)
    assert agentsh("search", "x", "--all", "--project", ".", cwd=one).code == 2


def test_that_there_is_more_is_said(tmp_path: Path) -> None:
    make_talk(tmp_path, "kestrel 1", "kestrel 2", "kestrel 3")

    ended = agentsh("search", "kestrel", "--limit", "2", "--role", "user", cwd=tmp_path)

    assert "there are more" in ended.err
    assert ended.out.count("kestrel") == 2
    assert ended.out.index("kestrel 3") < ended.out.index("kestrel 2")


def test_what_was_said_cannot_draw_on_the_terminal(tmp_path: Path) -> None:
    make_talk(tmp_path, "kestrel \x1b[31mred\x1b]0;title\x07 \u202eback\nnew line")

    shown = agentsh("search", "kestrel", cwd=tmp_path).out

    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert len(shown.splitlines()) == 4


@pytest.mark.parametrize("odd", ['"', "a* OR", "NEAR(", "-x", "%", "'; DROP TABLE x", "\x00", "{}"])
def test_no_query_is_an_error(tmp_path: Path, odd: str) -> None:
    make_talk(tmp_path, f"before {odd} after")

    ended = agentsh("search", "--json", "--role", "user", "--", odd, cwd=tmp_path)

    assert ended.code == 0, ended.err
    value = ended.json()
    assert isinstance(value, list)
    assert len(value) == 1


def test_nothing_to_search_for_is_wrong_use(tmp_path: Path) -> None:
    assert agentsh("search", " ", cwd=tmp_path).code == 2


@pytest.fixture
def five_hours_ahead(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "FAR-5")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("five_hours_ahead")
@pytest.mark.parametrize(
    ("word", "first", "end"),
    [
        ("2026-01-31", "2026-01-30T19:00:00.000Z", "2026-01-31T19:00:00.000Z"),
        ("2026-12-31", "2026-12-30T19:00:00.000Z", "2026-12-31T19:00:00.000Z"),
        ("2026-01", "2025-12-31T19:00:00.000Z", "2026-01-31T19:00:00.000Z"),
        ("2026-12", "2026-11-30T19:00:00.000Z", "2026-12-31T19:00:00.000Z"),
        ("2026-01-31 10:59", "2026-01-31T05:59:00.000Z", "2026-01-31T06:00:00.000Z"),
        ("2026-01-31T10:00:59", "2026-01-31T05:00:59.000Z", "2026-01-31T05:01:00.000Z"),
        ("2026-01-31T10:00Z", "2026-01-31T10:00:00.000Z", "2026-01-31T10:01:00.000Z"),
        ("2026-12Z", "2026-12-01T00:00:00.000Z", "2027-01-01T00:00:00.000Z"),
        ("2d", "2025-12-30T00:00:00.000Z", "2025-12-30T00:00:00.001Z"),
        ("12h", "2025-12-31T12:00:00.000Z", "2025-12-31T12:00:00.001Z"),
    ],
)
def test_times_are_those_of_the_place_where_they_are_typed(word: str, first: str, end: str) -> None:
    assert (since(word, NOW), until(word, NOW)) == (first, end)


@pytest.mark.parametrize("word", ["yesterday", "2026-13", "2026-01-32", "5", "", "x" * 300])
def test_what_is_no_time_is_wrong_use(word: str) -> None:
    with pytest.raises(UsageError):
        since(word, NOW)


def test_a_named_day_counts_whole(tmp_path: Path) -> None:
    make_talk(tmp_path, "kestrel")
    (hit,) = found("kestrel", "--role", "user", cwd=tmp_path)
    day = str(hit["time"])[:10]

    assert (
        len(found("kestrel", "--role", "user", "--since", day, "--until", day, cwd=tmp_path)) == 1
    )
    assert found("kestrel", "--until", "2001-01", cwd=tmp_path) == []


def test_archived_sessions_are_found(tmp_path: Path) -> None:
    talk = make_talk(tmp_path, "a kestrel")
    make_talk(tmp_path, "a later kestrel")
    before = found("kestrel", "--role", "user", cwd=tmp_path)
    assert agentsh("sessions", "archive", talk.id, cwd=tmp_path).code == 0

    for _ in range(2):
        after = found("kestrel", "--role", "user", cwd=tmp_path)
        assert [hit["entry"] for hit in after] == [hit["entry"] for hit in before]
        assert [hit["archived"] for hit in after] == [False, True]
