"""`from agentsh import Session`: made, prompted, opened again; what a turn gives and raises."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agentsh import Answer, Denied, Request, Session, TurnError
from agentsh.agent.driven.host import SessionHost
from agentsh.cli.assembly.scripting.hosting import create_host
from agentsh.errors import AgentshError, NoPromptError, RefusedError, UsageError
from agentsh.jsontext import JsonObject
from agentsh.tools.shell import groups
from tests.agent.hostcontract import HostContract
from tests.cli.program import agentsh
from tests.cli.working import Project
from tests.support.endpoint import Endpoint, Reply, calls, serve, status, text


@pytest.fixture
def here(project: Project) -> Project:
    project.monkeypatch.chdir(project.tree)
    project.monkeypatch.setenv("AGENTSH_MODEL", "m")
    return project


def using(project: Project, endpoint: Endpoint) -> None:
    project.monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)


def texts(s: Session) -> list[str]:
    """What was said, in the view chat."""
    return [message["text"] for message in s.view()["messages"]]


def is_running(pid: int) -> bool:
    return any(row.pid == pid for row in groups.table())


def bash(command: str, number: int = 1) -> tuple[str, str, JsonObject]:
    return (f"c{number}", "bash", {"command": command})


@contextmanager
def talking(*replies: Reply, **arguments: Any) -> Iterator[Session]:
    """A session that these replies are given in."""
    with serve(*replies) as endpoint, Session.create(base_url=endpoint.base_url, **arguments) as s:
        yield s


class TestScriptHost(HostContract):
    @pytest.fixture
    def host(self, project: Project) -> Iterator[SessionHost]:
        with serve(text("a heron"), models=[{"id": "m"}, {"id": "n"}]) as endpoint:
            host = create_host({"cwd": project.tree, "base_url": endpoint.base_url, "model": "m"})
            for _ in host.front.prompt("hello"):
                pass
            yield host
            host.close()


def test_two_sessions_in_two_threads_do_not_know_of_each_other(here: Project) -> None:
    answers: dict[str, Answer] = {}

    def ask(name: str) -> None:
        with serve(calls(bash(f"sleep 0.2; echo {name}")), text(name)) as endpoint:
            arguments: Any = {"base_url": endpoint.base_url, "policy": "all"}
            with Session.create(cwd=here.tree, **arguments) as s:
                answers[name] = s.prompt(name)

    threads = [threading.Thread(target=ask, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert {name: answer.text for name, answer in answers.items()} == {"one": "one", "two": "two"}


def test_a_session_that_ends_leaves_the_commands_of_another_one(here: Project) -> None:
    waits = bash("sleep 300 & echo $! > pid; echo started")
    with serve(calls(waits), text("done")) as endpoint:
        how: Any = {"base_url": endpoint.base_url, "policy": "all"}
        with Session.create(**how) as one:
            one.prompt("go")
            with Session.create(**how) as two:
                two.prompt("go")
            pid = int((here.tree / "pid").read_text())
            assert is_running(pid)

    assert not is_running(pid)


def test_what_is_said_from_another_thread_is_heard(here: Project) -> None:
    with talking(calls(bash("echo a")), text("one"), text("two"), policy="all") as s:
        for event in s.stream("go"):
            if event.type == "tool_call":
                for say in (s.steer, s.follow_up):
                    thread = threading.Thread(target=say, args=(say.__name__,))
                    thread.start()
                    thread.join()

        assert [each for each in texts(s) if each in ("steer", "follow_up")] == [
            "steer",
            "follow_up",
        ]


def test_nothing_is_printed_changed_or_left_behind(
    here: Project, capfd: pytest.CaptureFixture[str]
) -> None:
    handlers = {number: signal.getsignal(number) for number in signal.valid_signals()}
    before = (Path.cwd(), threading.active_count())
    (here.tree / "AGENTS.md").write_text("Be\u200bware.")
    with serve(calls(bash("sleep 30 & echo started")), text("done")) as endpoint:
        inside = threading.active_count()
        with Session.create(base_url=endpoint.base_url, policy="all") as s:
            s.prompt("go")
            assert "AGENTS.md: 1 invisible" in " ".join(s.notices)
        assert threading.active_count() <= inside + 1  # the endpoint's own

    assert (Path.cwd(), threading.active_count()) == before
    assert handlers == {number: signal.getsignal(number) for number in signal.valid_signals()}
    assert capfd.readouterr() == ("", "")


def test_a_session_in_memory_leaves_no_file(here: Project) -> None:
    with talking(calls(bash("touch a")), text("done"), save=False, approve=lambda r: "always") as s:
        assert s.prompt("go").ok
        assert s.path is None
        assert texts(s)[0] == "go"
        with pytest.raises(RefusedError):
            s.fork()

    assert (here.tree / "a").exists()
    assert [p for p in here.home.rglob("*") if p.is_file() and p.name != "learned.json"] == []
    assert Session.list(everywhere=True) == []


def test_a_callback_that_fails_refuses_the_call_ends_the_turn_and_is_raised(here: Project) -> None:
    def approve(request: Request) -> bool:
        raise LookupError(request.shown)

    with talking(calls(bash("touch a")), text("fine"), approve=approve) as s:
        with pytest.raises(LookupError, match="touch a"):
            s.prompt("go")
        assert s.prompt("again").text == "fine"
        path = str(s.path)

    assert not (here.tree / "a").exists()
    assert agentsh("verify", path).code == 0


@pytest.mark.parametrize("answer", [1, "yes", None, False, [True]])
def test_any_other_answer_of_the_callback_is_a_no(here: Project, answer: object) -> None:
    with talking(calls(bash("touch a")), text("fine"), approve=lambda r: answer) as s:
        assert s.prompt("go").text == "fine"

    assert not (here.tree / "a").exists()


def test_ctrl_c_ends_the_turn_on_record_and_the_session_goes_on(here: Project) -> None:
    def stop() -> str:
        "Stops."
        raise KeyboardInterrupt

    with talking(calls(("c1", "stop", {})), text("fine"), tools=[stop]) as s:
        with pytest.raises(KeyboardInterrupt):
            s.prompt("go")
        assert s.prompt("again").text == "fine"
        path = str(s.path)

    assert agentsh("verify", path).code == 0


def test_a_denial_may_have_a_reason_for_the_model(here: Project) -> None:
    def approve(request: Request) -> bool:
        raise Denied("not on a Monday")

    with talking(calls(bash("touch a")), text("fine"), approve=approve) as s:
        s.prompt("go")
        assert "not on a Monday" in str(s.view("model")["messages"][-2])


def test_a_marked_tool_is_asked_about_and_a_name_that_is_taken_is_refused(here: Project) -> None:
    from agentsh import tool

    @tool(ask=True)
    def wipe(what: str) -> str:
        return "wiped " + what

    def read() -> str:
        return ""

    asked: list[str] = []

    def approve(request: Request) -> bool:
        asked.append(f"{request.tool} {request.shown}")
        return True

    with serve(calls(("c1", "wipe", {"what": "all"})), text("fine")) as endpoint:
        with pytest.raises(UsageError, match="read already"):
            Session.create(base_url=endpoint.base_url, tools=[read])
        with Session.create(base_url=endpoint.base_url, tools=[wipe], approve=approve) as s:
            s.prompt("go")

    assert asked == ['wipe wipe {"what":"all"}']


def test_an_answer_that_fits_a_schema_is_a_value(here: Project) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    with talking(text('{"n": 4}')) as s:
        assert s.prompt("how many?", schema=schema).data == {"n": 4}
        with pytest.raises(UsageError):
            s.prompt("how many?", schema={"type": "number of birds"})


def test_a_second_prompt_while_one_runs_is_refused_and_a_turn_that_was_left_is_ended(
    here: Project,
) -> None:
    with serve(text("one two")) as endpoint:
        s = Session.create(base_url=endpoint.base_url)
        events = s.stream("go")
        assert next(events).type == "turn_start"
        with pytest.raises(RefusedError):
            s.prompt("and?")
        s.close()
        s.close()
        with pytest.raises(RefusedError):
            s.prompt("and now?")
        with Session.open(str(s.path), base_url=endpoint.base_url) as again:
            assert "aborted" in str(again.view("trace")["events"][-3:])


def test_an_abort_where_nothing_runs_stops_nothing(here: Project) -> None:
    with talking(text("fine")) as s:
        s.abort()
        assert s.prompt("go").ok


def test_what_is_wrong_is_said_when_the_session_is_made(here: Project) -> None:
    with serve(text("fine")) as endpoint:
        url = endpoint.base_url
        with pytest.raises(TypeError, match="modle"):
            Session.create(base_url=url, modle="m")  # type: ignore[call-arg]
        for arguments in (
            {"policy": "maybe"},
            {"max_steps": 0},
            {"cwd": here.tree / "none"},
            {"thinking": "hard"},
            {"builtin_tools": ["reed"]},
        ):
            with pytest.raises(UsageError) as error:
                Session.create(base_url=url, **arguments)
            assert error.value.exit_code == 2
        with Session.create(base_url=url) as s, pytest.raises(NoPromptError):
            s.prompt("  ")
        with pytest.raises(AgentshError) as missing:
            Session.open("last")
        assert missing.value.exit_code == 3


def test_a_turn_that_takes_too_many_steps_says_so(here: Project) -> None:
    replies = (calls(bash("echo a")), text("fine"))
    with talking(*replies, policy="all", max_steps=1) as s, pytest.raises(TurnError) as error:
        s.prompt("go")

    assert (error.value.answer.status, error.value.exit_code) == ("max_steps", 6)


def test_a_fork_begins_where_it_was_asked_for_and_the_old_one_stays(here: Project) -> None:
    with serve(text("one"), text("two"), text("three")) as endpoint:
        using(here, endpoint)
        with Session.create() as s:
            first = s.prompt("first")
            s.prompt("second")
            with s.fork(first.entry) as f:
                f.prompt("third")
                assert texts(f) == [
                    "first",
                    "one",
                    "third",
                    "three",
                ]
        with Session.open(s.id, at=first.entry) as again:
            assert again.leaf != s.leaf
        with Session.open(s.id) as again:  # nothing was done there
            assert again.leaf == s.leaf
        with Session.open(s.id, fork=True, at=first.entry) as again:
            assert texts(again) == ["first", "one"]


def test_the_classes_are_called_as_they_are_imported() -> None:
    assert [repr(kind) for kind in (Session, TurnError, Request)] == [
        "<class 'agentsh.Session'>",
        "<class 'agentsh.TurnError'>",
        "<class 'agentsh.Request'>",
    ]


def test_a_failed_turn_raises_what_the_server_said(here: Project) -> None:
    with talking(
        status(400, {"error": {"message": "the moon is wrong"}}), text("fine"), max_retries=0
    ) as s:
        with pytest.raises(TurnError, match="the moon is wrong") as error:
            s.prompt("go")
        assert (error.value.exit_code, error.value.answer.ok) == (1, False)
        assert s.prompt("again").text == "fine"
