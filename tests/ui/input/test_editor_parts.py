"""History, completion, status, the approval desk, the worker: what the editor is made of."""

from __future__ import annotations

import asyncio
import stat
import threading
import time
from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from agentsh.agent.events import Notice, TextPart, ThinkingPart
from agentsh.agent.turn.approvals import ApprovalAnswer, ApprovalRequest
from agentsh.ui.asking.approval import (
    QUIET_BEFORE_ANSWER,
    Desk,
    Question,
    question_body,
    question_keys,
)
from agentsh.ui.chat.worker import BACKLOG, News, Worker, _joined
from agentsh.ui.input.completion import ChatCompleter, best_matches, walk_files
from agentsh.ui.input.history import PromptHistory
from agentsh.ui.status import (
    Hint,
    choice_lines,
    git_branch,
    question_lines,
    queue_lines,
)
from tests.ui.fakes import call, fake_queued

REQUEST = ApprovalRequest(call("bash"), "bash", "rm\u200b -rf \x1b[2J/", None, "rm")


def completions(text: str, cwd: Path) -> list[str]:
    completer = ChatCompleter(cwd)
    return [c.text for c in completer.get_completions(Document(text, len(text)), CompleteEvent())]


def test_typed_prompts_are_kept_newest_first_without_doubles(tmp_path: Path) -> None:
    path = tmp_path / "state" / "history"
    for text in ("one", "two\nlines", "two\nlines", "one", "漢"):
        PromptHistory(path).append_string(text)

    assert list(PromptHistory(path).load_history_strings()) == ["漢", "one", "two\nlines"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_history_that_is_damaged_or_not_writable_costs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_bytes(b'"good"\n{broken\n[1]\n"half')

    assert list(PromptHistory(path).load_history_strings()) == ["good"]
    PromptHistory(tmp_path / "history" / "below-a-file").append_string("x")
    assert list(PromptHistory(None).load_history_strings()) == []


def test_commands_complete_at_the_start_only(tmp_path: Path) -> None:
    assert completions("/co", tmp_path) == ["compact", "context", "cost", "copy"]
    assert completions("say /co", tmp_path) == []
    assert completions("/compact no", tmp_path) == []


def test_files_complete_after_an_at_sign(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / ".git").mkdir()
    for name in ("src/main.py", "src/window.py", "readme.md", ".git/config", "odd\x1b[2J.txt"):
        (tmp_path / name).write_text("")

    assert completions("see @mai", tmp_path) == ["src/main.py"]
    assert completions("see @srwi", tmp_path) == ["src/window.py"]
    assert completions("see @", tmp_path)[:2] == ["readme.md", "src/"]
    assert completions("mail@mai", tmp_path) == []
    assert all(".git" not in name and "\x1b" not in name for name in walk_files(tmp_path, 100))


def test_names_with_blanks_are_offered_in_quotation_marks(tmp_path: Path) -> None:
    (tmp_path / "My Docs").mkdir()
    (tmp_path / "My Docs" / "zebra.txt").write_text("")
    (tmp_path / "meeting notes.md").write_text("")

    assert completions("see @zeb", tmp_path) == ['"My Docs/zebra.txt"']
    assert completions("see @meet", tmp_path) == ['"meeting notes.md"']
    assert completions('see @"my do', tmp_path) == ['"My Docs/', '"My Docs/zebra.txt"']
    assert completions('see @"meeting notes.md" and', tmp_path) == []


def test_a_list_of_files_that_was_cut_says_so(tmp_path: Path) -> None:
    for n in range(60):
        (tmp_path / f"heron{n}").write_text("")
    document = Document("@heron", 6)
    offered = list(ChatCompleter(tmp_path).get_completions(document, CompleteEvent()))

    assert len(offered) == 51
    assert (offered[-1].text, offered[-1].display_text) == ("heron", "…")
    assert offered[-1].display_meta_text == "there are more; type more of the name"


def test_the_walk_stops_at_its_limit(tmp_path: Path) -> None:
    for n in range(20):
        (tmp_path / f"f{n}").write_text("")

    assert len(list(walk_files(tmp_path, 7))) == 7


def test_the_closest_match_comes_first() -> None:
    names = ["a/test_main.py", "main.py", "domain/x.py", "m/a/i/n"]

    assert best_matches("main", names, 9) == ["main.py", "a/test_main.py", "domain/x.py", "m/a/i/n"]
    assert best_matches("main", names, 1) == ["main.py"]
    assert best_matches("zz", names, 9) == []


def test_the_queue_is_shown_in_a_few_lines() -> None:
    queue = [fake_queued(str(n), "steer" if n == 0 else "follow-up", f"m{n}\nx") for n in range(6)]

    assert queue_lines(queue, 40) == ["next: m0 x", "then: m1 x", "then: m2 x", "… 3 more"]


def test_a_hint_is_over_after_its_time() -> None:
    hint = Hint()
    hint.show("words", 10.0, 1.5)
    assert (hint.text(11.4), hint.text(11.6)) == ("words", None)
    hint.show("words " * 20, 10.0)
    assert hint.text(15.0)


def test_the_branch_is_read_without_git(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "below").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/feature/x\n")

    assert git_branch(tmp_path / "below") == "feature/x"
    (tmp_path / ".git" / "HEAD").write_text("0123456789abcdef\n")
    assert git_branch(tmp_path) == "01234567"
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/.invalid\n")  # as reftable has it
    assert git_branch(tmp_path) is None


def test_the_branch_of_a_worktree_is_its_own_and_not_that_of_the_repository_around_it(
    tmp_path: Path,
) -> None:
    own = tmp_path / ".git" / "worktrees" / "side"
    own.mkdir(parents=True)
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/trunk\n")
    (own / "HEAD").write_text("ref: refs/heads/side\n")
    tree = tmp_path / "side"
    tree.mkdir()
    for link in (str(own), "../.git/worktrees/side"):
        (tree / ".git").write_text(f"gitdir: {link}\n")
        assert git_branch(tree) == "side"
    (tree / ".git").write_text("gitdir: /nowhere/at/all\n")
    assert git_branch(tree) is None


def test_what_is_asked_about_hides_nothing() -> None:
    assert question_body(REQUEST) == "  rm<U+200B> -rf ␛[2J/"
    assert "p always rm …" in question_keys(REQUEST)
    assert choice_lines(Question(REQUEST), 40, 23) == [
        "Allow it? y once · a always",
        "  p always rm … · e edit · n no, say why",
        "  Esc no",
    ]


def test_each_answer_has_a_line_where_the_window_is_high_enough() -> None:
    assert choice_lines(Question(REQUEST), 40, 24) == [
        "Allow it?",
        "  y    once",
        "  a    always",
        "  p    always rm …",
        "  e    edit",
        "  n    no, say why",
        "  Esc  no",
    ]
    drafting = choice_lines(Question(REQUEST), 80, 24, drafting=True)
    assert drafting[0] == "Allow it? Keys answer once the line is empty: Enter sends your draft"


@pytest.mark.parametrize(
    ("key", "answer"),
    [
        ("y", ApprovalAnswer("once")),
        ("a", ApprovalAnswer("session")),
        ("p", ApprovalAnswer("rule", rule="rm")),
    ],
)
def test_a_key_answers_the_thread_that_asks(key: str, answer: ApprovalAnswer) -> None:
    shown: list[Question] = []
    desk = Desk(lambda job: job(), shown.append)
    got: list[ApprovalAnswer] = []
    thread = threading.Thread(target=lambda: got.append(desk.approve(REQUEST)))
    thread.start()
    while not shown:
        time.sleep(0.01)
    assert not desk.is_asked()
    time.sleep(QUIET_BEFORE_ANSWER + 0.05)
    assert desk.is_asked()
    desk.typed()
    assert not desk.is_asked()
    assert desk.agree("x") is None
    assert desk.agree(key)
    thread.join(5)

    assert got == [answer]


def desk_asking(shown: list[str], got: list[ApprovalAnswer]) -> tuple[Desk, threading.Thread]:
    desk = Desk(lambda job: job(), lambda question: shown.append(question.request.shown))
    thread = threading.Thread(target=lambda: got.append(desk.approve(REQUEST)))
    thread.start()
    while not shown:
        time.sleep(0.01)
    return desk, thread


def test_a_command_that_the_person_wrote_is_not_asked_about_again() -> None:
    shown: list[str] = []
    got: list[ApprovalAnswer] = []
    desk, thread = desk_asking(shown, got)
    assert desk.change("ls nest") == "allowed once, as you changed it; the model will be told"
    thread.join(5)

    assert desk.question is None
    assert shown == [REQUEST.shown]
    assert got == [ApprovalAnswer("once", command="ls nest")]


@pytest.mark.parametrize("command", [REQUEST.shown, "", "  "])
def test_enter_on_a_command_that_was_not_changed_agrees_to_nothing(command: str) -> None:
    shown: list[str] = []
    got: list[ApprovalAnswer] = []
    desk, thread = desk_asking(shown, got)
    assert desk.change(command) is None
    assert desk.question is not None
    desk.refuse()
    thread.join(5)

    assert (shown, got) == ([REQUEST.shown], [ApprovalAnswer("no")])


def test_a_changed_command_with_what_an_editor_hides_is_asked_about_anew() -> None:
    shown: list[str] = []
    got: list[ApprovalAnswer] = []
    desk, thread = desk_asking(shown, got)
    hidden = "ls nest\u202e; mr x"
    assert desk.change(hidden) is None
    assert not desk.is_asked()
    desk.agree("y")
    thread.join(5)

    assert shown == [REQUEST.shown, hidden]
    assert got == [ApprovalAnswer("once", command=hidden)]


def test_a_no_has_a_reason_where_one_was_given() -> None:
    desk = Desk(lambda job: job(), lambda _question: None)
    got: list[ApprovalAnswer] = []
    thread = threading.Thread(target=lambda: got.append(desk.approve(REQUEST)))
    thread.start()
    while desk.question is None:
        time.sleep(0.01)
    desk.refuse("not today")
    thread.join(5)

    assert got == [ApprovalAnswer("no", reason="not today")]


def test_an_open_question_stays_named_above_its_keys() -> None:
    request = ApprovalRequest(call("bash"), "bash", "rm -r nest", None, "= rm -r nest", "it rains")
    gap, *lines = question_lines(Question(request), 60)
    lines += choice_lines(Question(request), 60, 24)

    assert gap == ""
    assert lines[0] == "? bash: rm -r nest"
    assert lines[1] == "  asked because it rains"
    assert question_lines(Question(request), 60, is_above=True) == [gap, lines[1]]
    assert " p " not in " ".join(lines)
    assert max(map(len, lines)) <= 60


def test_the_label_of_a_long_rule_ends_in_one_ellipsis() -> None:
    rule = "python3 -c 'from report import report; print(report())'"
    request = ApprovalRequest(call("bash"), "bash", rule, None, rule, None)

    assert question_keys(request)[2] == "p always python3 -c 'from report import report; …"


@pytest.mark.parametrize(
    ("key", "hint", "words"),
    [
        ("a", "rm", "exactly this is allowed"),
        ("a", "@edit /far/a.txt", "edits of this file are allowed"),
        ("p", "rm", "whatever begins with rm is allowed"),
    ],
)
def test_what_is_allowed_for_good_says_for_how_long_and_where_it_is_listed(
    key: str, hint: str, words: str
) -> None:
    desk = Desk(lambda job: job(), lambda _question: None)
    desk.question = Question(ApprovalRequest(call("bash"), "bash", "rm x", None, hint, None))

    assert desk.agree(key) == f"{words} from now on in this session; /approve lists what is"


def test_a_chat_that_is_left_agrees_to_nothing() -> None:
    desk = Desk(lambda job: job(), lambda _question: None)
    desk.close("left", for_good=True)

    assert desk.approve(REQUEST).kind == "no"


def test_runs_of_text_are_joined_and_order_is_kept() -> None:
    news: list[News] = [
        TextPart("a"),
        TextPart("b"),
        ThinkingPart("c"),
        ThinkingPart("d"),
        Notice("n"),
        TextPart("e"),
    ]

    assert _joined(news) == [TextPart("ab"), ThinkingPart("cd"), Notice("n"), TextPart("e")]


def test_a_fast_stream_is_drained_in_few_bunches() -> None:
    """Counted: how often the loop is woken for 2,000 events."""
    bunches: list[list[News]] = []
    worker = Worker(bunches.append)

    async def main() -> None:
        worker.attach(asyncio.get_running_loop())

        def job() -> None:
            for _ in range(2000):
                worker.post(TextPart("x"))

        worker.start(job, "test")
        while sum(len(p.text) for b in bunches for p in b if isinstance(p, TextPart)) < 2000:
            await asyncio.sleep(0.01)

    asyncio.run(main())

    assert len(bunches) < 40
    assert worker.join(1)


def test_news_wait_while_nobody_listens() -> None:
    worker = Worker(lambda _news: None)
    worker.post(TextPart("x"))

    assert worker.take() == [TextPart("x")]


def test_a_job_waits_for_the_screen_and_not_the_other_way_round() -> None:
    """An endpoint that pours out words without end: the loop hears keys all the while."""
    held: list[int] = []
    stop = threading.Event()

    def drain(news: list[News]) -> None:
        held.append(sum(len(n.text) for n in news if isinstance(n, TextPart)))

    worker = Worker(drain)

    async def main() -> None:
        worker.attach(asyncio.get_running_loop())

        def job() -> None:
            while not stop.is_set():
                worker.post(TextPart("x" * 500))

        worker.start(job, "test")
        while len(held) < 5:
            await asyncio.sleep(0.01)
        stop.set()

    asyncio.run(main())
    worker.attach(None)

    assert worker.join(5)
    assert 0 < max(held) <= BACKLOG


def test_without_a_loop_a_job_waits_for_nobody() -> None:
    worker = Worker(lambda _news: None)

    def job() -> None:
        for _ in range(20):
            worker.post(TextPart("x" * BACKLOG))

    worker.start(job, "test")

    assert worker.join(5)
    assert len(worker.take()) == 1
