"""`agentsh rpc`, how it is called: what is wrong is said, what is named is opened; and a bug."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import agentsh, make_talk
from tests.cli.working import Project
from tests.support.endpoint import serve, text
from tests.support.rpcclient import rpc_client


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--no-session", "-c"), b"--no-session goes with no other session"),
        (("--no-session", "--session", "last"), b"--no-session goes with no other session"),
        (("--name", "  "), b"a session's name cannot be empty"),
        (("--on-interrupted", "heron"), b"heron"),
        (("--tools", "none-such"), b"none-such"),
    ],
)
def test_what_is_wrong_is_exit_2_and_stdout_stays_empty(
    words: tuple[str, ...], said: bytes, project: Project
) -> None:
    project.monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with rpc_client("-m", "m", *words, cwd=project.tree) as client:
        assert client.wait_for_end() == 2
        assert client.records == []
        assert said in client.err
    assert agentsh("sessions", "--all", "--json").json() == []


def test_a_provider_without_a_model_of_its_own_asks_the_endpoint_for_one(
    project: Project,
) -> None:
    with serve(text("far"), models=[{"id": "n"}]) as far:
        project.settings(f'[endpoints.far]\nbase_url = "{far.base_url}"\n')
        project.monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
        with rpc_client("--provider", "far", cwd=project.tree) as client:
            client.prompt("hi")

            model = client.ok("get_state")["model"]
            assert (model["provider"], model["id"]) == ("far", "n")
            assert client.ok("get_last_assistant_text") == {"text": "far"}


def test_a_session_that_is_named_is_in_front_and_a_fork_leaves_it(project: Project) -> None:
    talk = make_talk(project.tree, "herons")
    before = talk.path.read_bytes()
    project.monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    for words, is_it in ((("--session", talk.id), True), (("--fork", talk.id), False)):
        with rpc_client("-m", "m", *words, cwd=project.tree) as client:
            state = client.ok("get_state")
            assert (state["sessionId"] == talk.id) is is_it
            assert client.ok("get_last_assistant_text") == {"text": "answer to herons"}
    assert talk.path.read_bytes().startswith(before)


def test_a_bug_in_a_command_is_its_response_is_on_record_and_the_next_is_taken(
    project: Project, tmp_path: Path
) -> None:
    """Put in from outside, since none is known."""
    broken = tmp_path / "site"
    broken.mkdir()
    (broken / "sitecustomize.py").write_text(
        "import agentsh.remote.rpc.sessionvalues as values\n"
        "def tree_of(session):\n    raise LookupError('heron')\n"
        "values.tree_of = tree_of\n"
    )
    project.monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    root = Path(__file__).resolve().parents[3]
    project.monkeypatch.setenv("PYTHONPATH", f"{broken}:{root}")
    with rpc_client("-m", "m", cwd=project.tree) as client:
        failed = client.ask("get_tree")

        assert (failed["success"], failed["code"]) == (False, "bug")
        assert "LookupError" in failed["error"]
        assert client.ok("get_state")["messageCount"] == 0
        client.end()
        assert b"this is a bug in agentsh" in client.err
    [record] = (project.home / "logs").glob("crash-*.log")
    assert "LookupError" in record.read_text()
