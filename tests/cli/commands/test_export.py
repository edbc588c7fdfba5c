"""`export` and `import` as commands: files, codes, what is said on which stream."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from tests.cli.program import agentsh, make_talk, run_for_oneself

KEY = "sk-" + "proj-" + "A1b2C3d4" * 5
DATA = Path(__file__).parent.parent.parent / "data"


@pytest.mark.parametrize("form", ["md", "html", "jsonl"])
def test_an_export_is_private_redacted_and_counted(tmp_path: Path, form: str) -> None:
    talk = make_talk(tmp_path, f"the key is {KEY}", "and more")
    before = talk.path.read_bytes()
    to = tmp_path / f"out.{form}"

    done = agentsh("export", talk.id, "--to", str(to))

    assert (done.code, done.out) == (0, f"{to}\n")
    assert done.err == "agentsh: redacted 2 (a provider's key: 2)\n"
    text = to.read_text("utf-8")
    assert KEY not in text
    assert "answer to and more" in text
    assert stat.S_IMODE(to.stat().st_mode) == 0o600
    assert talk.path.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == [to.name]


def test_raw_leaves_everything_as_it_is(tmp_path: Path) -> None:
    talk = make_talk(tmp_path, f"the key is {KEY}")
    to = tmp_path / "out.jsonl"

    done = agentsh("export", talk.id, "--raw", "--to", str(to))

    assert done.err == "agentsh: nothing was redacted (--raw)\n"
    assert KEY in to.read_text("utf-8")


def test_a_name_that_holds_a_key_is_redacted_too(tmp_path: Path) -> None:
    talk = make_talk(tmp_path, "hello")
    agentsh("rename", talk.id, f"about {KEY}")
    for form in ("md", "html", "jsonl"):
        assert agentsh("export", talk.id, "--to", str(tmp_path / f"o.{form}")).code == 0
        assert KEY not in (tmp_path / f"o.{form}").read_text("utf-8")


def test_a_file_that_exists_is_not_overwritten_and_other_endings_are_wrong_use(
    tmp_path: Path,
) -> None:
    talk = make_talk(tmp_path, "hello")
    taken = tmp_path / "taken.md"
    taken.write_text("precious")
    (tmp_path / "link.md").symlink_to(tmp_path / "nowhere.md")

    codes = [
        agentsh("export", talk.id, "--to", str(tmp_path / name)).code
        for name in ("taken.md", "link.md", "out.pdf", "out", "missing/folder/out.md")
    ]

    assert codes == [4, 4, 2, 2, 1]
    assert taken.read_text() == "precious"
    assert not (tmp_path / "nowhere.md").exists()


@pytest.mark.parametrize("form", ["md", "html", "jsonl"])
def test_at_leaves_out_everything_but_the_path_to_that_entry(tmp_path: Path, form: str) -> None:
    talk = make_talk(tmp_path, "alpha", "beta")
    to = tmp_path / f"out.{form}"

    done = agentsh("export", talk.id, "--to", str(to), "--at", talk.ids["answer to alpha"])

    assert done.code == 0
    assert "answer to alpha" in to.read_text("utf-8")
    assert "beta" not in to.read_text("utf-8")


def test_a_line_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    talk = make_talk(tmp_path, "alpha")
    broken = b'{"type":"message","id":"bad00000","parentId":null,"timestamp":"t","mess\n'
    talk.path.write_bytes(talk.path.read_bytes() + broken)

    done = agentsh("export", str(talk.path), "--to", str(tmp_path / "o.jsonl"))

    assert done.code == 0
    assert "left out: 1 lines that could not be read" in done.err


def test_an_import_belongs_to_this_folder_and_is_gone_on_with(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()

    done = agentsh("import", str(DATA / "claude-code.jsonl"), cwd=here)

    assert done.code == 0
    assert "brought a session of claude-code “Counting birds”" in done.err
    assert "left out: 2 encrypted reasoning" in done.err
    rows = agentsh("sessions", "--json", cwd=here).json()
    assert isinstance(rows, list)
    assert [(row["id"], row["name"], row["cwd"]) for row in rows] == [
        (done.out.strip(), "Counting birds", str(here))
    ]
    shown = agentsh("show", "last", "--view", "model", "--json", cwd=here).json()
    assert isinstance(shown, dict)
    assert "Herons were counted: four." in json.dumps(shown["messages"])


def test_a_dry_run_says_what_will_come_as_a_value_too(tmp_path: Path) -> None:
    words = ("import", str(DATA / "codex.jsonl"), "--dry-run")
    told, value = agentsh(*words, cwd=tmp_path), agentsh(*words, "--json", cwd=tmp_path).json()

    assert told.out.startswith("would bring a session of codex of /home/user/birds: ")
    assert value == {
        "session": None,
        "path": None,
        "format": "codex",
        "source": {"id": "019a0000-0000-7000-8000-00000000c0de", "cwd": "/home/user/birds"},
        "title": None,
        "entries": 18,
        "messages": 15,
        "branches": 2,
        "dropped": {
            "instructions and notes of the other program": 2,
            "encrypted reasoning": 1,
            "ghost_snapshot items": 1,
        },
        "joined": {},
        "dryRun": True,
    }
    assert agentsh("sessions", "--all", "--json").out == "[]\n"


def test_what_cannot_be_imported_is_not_found(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("dear diary")

    codes = [agentsh("import", str(tmp_path / name)).code for name in ("notes.txt", "nope", ".")]

    assert codes == [3, 3, 3]


@pytest.mark.parametrize("form", ["md", "html", "jsonl"])
def test_the_key_in_use_never_gets_out_of_whatever_variable_or_command_it_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    keys = [f"heron-{each}-2f9c41d7b8e0-river" for each in ("usual", "named", "command", "short")]
    keys[3] = "none"
    settings = Path(os.environ["AGENTSH_HOME"]) / "config.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(
        f'[endpoint]\napi_key_command = "echo {keys[2]}"\n'
        '[endpoints.other]\nbase_url = "http://x/v1"\napi_key_env = "HERON"\n'
    )
    monkeypatch.setenv("OPENAI_API_KEY", keys[0])
    monkeypatch.setenv("HERON", keys[1])
    talk = make_talk(tmp_path, "these are " + ", ".join(keys))
    to = tmp_path / f"out.{form}"

    assert agentsh("export", talk.id, "--to", str(to)).code == 0
    text = to.read_text("utf-8")
    assert [key in text for key in keys] == [False, False, False, True]


@pytest.mark.parametrize("form", ["md", "html", "jsonl"])
def test_q09_what_was_run_for_oneself_only_is_in_no_form_unless_it_is_asked_for(
    tmp_path: Path, form: str
) -> None:
    talk = make_talk(tmp_path, "hello")
    run_for_oneself(talk, "cat diary-heron", "dear egret")
    kept, whole = tmp_path / f"kept.{form}", tmp_path / f"whole.{form}"

    done = agentsh("export", talk.id, "--raw", "--to", str(kept))
    told = agentsh("export", talk.id, "--with-private", "--to", str(whole))

    assert "left out: 1 commands for yourself only (!!); --with-private takes them in" in done.err
    assert "for yourself only" not in told.err
    texts = kept.read_text("utf-8"), whole.read_text("utf-8")
    assert [[w in t for w in ("diary-heron", "dear egret", "afterwards")] for t in texts] == [
        [False, False, True],
        [True, True, True],
    ]
