"""The commands of the chat, and what is written about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import get_type_hints

import pytest

from agentsh.cli.parsing.modeloptions import ModelOptions
from agentsh.errors import AgentshError
from agentsh.messages import THINKING_LEVELS
from agentsh.session.format.entries import Custom, Entry
from agentsh.ui.asking.rewind import undo_preview
from agentsh.ui.chat.actions import Actions
from agentsh.ui.chat.view import TranscriptView
from agentsh.ui.input.attachments import Attachment
from agentsh.ui.input.commands import (
    SLASH_COMMANDS,
    help_text,
    key_text,
    split_command,
)
from agentsh.ui.input.keymap import ACTIONS, FIXED, Keymap, make_keymap
from agentsh.ui.state.chatstate import ChatState, fold
from agentsh.ui.terminal import Terminal
from agentsh.ui.theme import Role, Theme, choose_theme
from tests.ui.fakes import FakeAgent, FakeSession, entry_id, fake_plan, fake_report, says
from tests.ui.hosts import FakeHost
from tests.ui.paper.test_render import bare
from tests.ui.screens import terminal
from tests.ui.tree.test_outline import FORKED

DOC = Path(__file__).resolve().parents[3] / "docs" / "chat.md"


class FakeCompleter:
    models: Sequence[str] = ()


class FakeEditor:
    completer = FakeCompleter()
    attachments: tuple[Attachment, ...] = ()

    def take_attachments(self) -> tuple[Attachment, ...]:
        return self.attachments


class FakeChat:
    """A chat without an editor; jobs run at once."""

    def __init__(self) -> None:
        self.agent = FakeAgent(says("x"), FakeSession(list(FORKED)))
        self.host = FakeHost(self.agent)
        self.terminal: Terminal = terminal(columns=100, rows=100)
        self.state = fold(ChatState(), fake_report(), 0.0)
        self.editor = FakeEditor()
        self.theme: Theme = choose_theme("none", "dark", self.terminal.colours)
        self.view = TranscriptView(self.terminal, self.theme)
        self.busy = False
        self.draft = ""
        self.hints: list[str] = []
        self.started: list[str] = []
        self.left = False
        self.copied = ""
        self.screens = 0
        self.aside: object = None

    def say(self, text: str, role: Role = "quiet") -> None:
        self.view.say(text, role)

    def guarded(self, action: Callable[[], object]) -> None:
        try:
            action()
        except AgentshError as e:
            self.view.say(f"error: {e}", "error")

    def hint(self, text: str) -> None:
        self.hints.append(text)

    keymap: Keymap = make_keymap()

    def set_draft(self, text: str, *, said: bool = False) -> None:
        self.draft = text

    def put_back(self, text: str) -> None:
        self.draft = f"{text}\n{self.draft}" if self.draft else text

    def start(self, job) -> None:  # type: ignore[no-untyped-def]
        job()

    def look(self, job, looked=None) -> None:  # type: ignore[no-untyped-def]
        job()

    def start_turn(self, text: str) -> None:
        self.started.append(text)

    def post(self, news) -> None:  # type: ignore[no-untyped-def]
        if callable(news):
            news()
        else:
            self.view.feed(news)

    def show_screen(self, job) -> None:  # type: ignore[no-untyped-def]
        self.screens += 1

    def use(self, agent) -> None:  # type: ignore[no-untyped-def]
        self.agent = agent

    def refresh(self) -> None:
        pass

    def refresh_report(self) -> None:
        self.state = fold(self.state, self.agent.report(), 0.0)

    def copy(self, text: str) -> str:
        self.copied = text
        return "copied, perhaps"

    def leave(self) -> None:
        self.left = True


def run(line: str, chat: FakeChat | None = None) -> tuple[FakeChat, str]:
    chat = chat or FakeChat()
    Actions(chat).submit(line)  # type: ignore[arg-type]
    return chat, bare(chat.view.take())


def test_every_command_of_the_table_does_something_and_no_other() -> None:
    assert Actions(FakeChat()).names == {c.name for c in SLASH_COMMANDS}  # type: ignore[arg-type]


def test_the_help_has_a_line_for_each() -> None:
    text = help_text(make_keymap(), 200)

    assert all(c.help in text for c in SLASH_COMMANDS)
    assert all(does in text for _, does in FIXED)
    assert all(action.does in text for action in ACTIONS)


def test_what_is_too_long_goes_on_below_itself() -> None:
    text = key_text(make_keymap(), 70)

    assert max(map(len, text.split("\n"))) <= 70
    assert text.split("\n")[1].startswith(" " * 40)


def test_hotkeys_show_the_keys_in_force() -> None:
    text = key_text(make_keymap({"unfold": "f2 ctrl-e", "tree": "f3"}))

    assert "f2, ctrl-e" in text
    assert "Ctrl-O" not in text


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/jobs", "list None"),
        ("/jobs show 12", "show 12"),
        ("/jobs stop 12", "stop 12"),
        ("/jobs stop", "/jobs show N, /jobs stop N"),
        ("/jobs 12", "/jobs show N, /jobs stop N"),
    ],
)
def test_jobs_are_listed_shown_and_stopped(line: str, said: str) -> None:
    assert said in run(line)[1]


def test_a_command_and_its_argument() -> None:
    assert split_command("/name my session ") == ("name", "my session")
    assert split_command("/tree") == ("tree", "")


@pytest.mark.parametrize(
    "text",
    [
        *("plain words", "/etc/hosts is odd", "/ what", "//x", "/home/me/x.py does not compile"),
        *("/tmp is full", "/etc", "/2 of them", " /nosuch"),
    ],
)
def test_u19_what_begins_with_a_path_or_names_no_command_is_a_prompt(text: str) -> None:
    assert run(text)[0].started == [text]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("/thikning high", "/thikning here; is it /thinking? /help"),
        ("/ch b1", "/ch here; is it /checkout? /help"),
        ("/nosuch\nand more", "/nosuch here; /help lists them; a blank before it makes"),
    ],
)
def test_u19_an_unknown_command_stays_in_the_editor_with_the_nearest_names(
    line: str, words: str
) -> None:
    chat, said = run(line)

    assert (chat.started, chat.draft) == ([], line)
    assert words in said


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("/nosuch [/x]", "there is no command /nosuch"),
        ("/help", "/checkout ENTRY"),
        ("/hotkeys", "Ctrl-R"),
        ("/session", "0000-fake"),
        ("/cost", "output 5 tokens"),
        ("/cost", "of which $0.2500 came along with the fork · warns at $1.00"),
        ("/context", "1,000 of 8,000 tokens"),
        ("/tools", "read    Read a file"),
        ("/model n", "model: n, from the next prompt on"),
        ("/model far/x", "model: far/x, from the next prompt on; it is in no list"),
        ("/model nobody/m", "error: no endpoint nobody"),
        ("/session", "model    m, thinking off"),
        ("/session", "saved    yes"),
        ("/thinking high", "thinking: high"),
        ("/approve all", "approve:"),
        ("/approve sometimes", "error: no policy sometimes"),
        ("/label here", "label: here"),
        ("/label", "label cleared"),
        ("/name", "name: (none)"),
        ("/name odd [/] name", "name: odd [/] name"),
        ("/checkout nope", "error: no entry 'nope'"),
        ("/checkout", "wants an entry"),
        ("/new", "new session"),
        ("!echo hi", "ran echo hi"),
        ("!!echo hi", "(kept from the model)"),
    ],
)
def test_what_a_command_says(line: str, words: str) -> None:
    assert words in run(line)[1]


def test_approve_lists_what_was_allowed_for_good_and_how_to_take_it_back() -> None:
    said = [line for line in run("/approve")[1].splitlines() if line]

    assert said[0] == "approve: edits (never, ask, edits or all)"
    assert "/tree, to before it, takes it back" in said[1]
    assert said[2:] == ["  a  npm test␛", "  p  git status …", "  a  edits of /far/a.txt"]


def test_what_was_typed_while_a_move_took_its_time_stays_behind_the_prompt() -> None:
    chat = FakeChat()
    chat.draft = "my draft"
    run("/checkout b1", chat)
    assert chat.draft == "take the heron road\nmy draft"


def test_checkout_of_a_prompt_gives_its_text_back() -> None:
    chat, said = run("/checkout b1")

    assert chat.draft == "take the heron road"
    assert chat.agent.moves == ["b1"]
    assert "to a fork" in said


def test_undo_goes_before_the_last_prompt() -> None:
    chat, _ = run("/undo")

    assert (chat.agent.moves, chat.draft) == (["c1"], "take the badger road")


def with_changed_files() -> FakeChat:
    chat = FakeChat()
    leaf = chat.agent.session.leaf
    body = Custom("agentsh.checkpoint", {"v": 1, "commit": "c", "store": "s"})
    chat.agent.session.all.append(Entry(entry_id("k1"), leaf, "2026-01-01T00:00:00Z", body))
    chat.agent.session.leaf = entry_id("k1")
    return chat


def test_undo_says_what_it_would_do_to_files_and_asks_which_is_meant() -> None:
    chat = with_changed_files()

    Actions(chat).submit("/undo")  # type: ignore[arg-type]

    said = bare(chat.view.take())
    assert chat.agent.moves == []
    assert chat.agent.files.done == []
    assert "delete: made" in said
    assert "\x1b" not in said
    assert said.strip().splitlines() == [
        "nothing is changed yet. What undoing the last prompt would do to the files:",
        "  delete: madext",
        "  left alone: mine.txt: changed by somebody else since",
        "to do it:",
        "  /undo both            the conversation and the files",
        "  /undo conversation    the conversation; the files stay as they are now",
        "  /undo files           the files; the conversation stays",
        "  /undo both overwrite  both, and what would be left alone above, too",
    ]


def test_overwrite_is_named_only_where_something_would_be_left_alone() -> None:
    assert not any("overwrite" in line for line in undo_preview(fake_plan(())))


@pytest.mark.parametrize(
    ("line", "moves", "done"),
    [
        ("/undo conversation", ["c1"], []),
        ("/undo files", [], [("files", False)]),
        ("/undo both", ["c1"], [("both", False)]),
        ("/undo both overwrite", ["c1"], [("both", True)]),
        ("/undo everything", [], []),
        ("/undo both please", [], []),
    ],
)
def test_undo_does_what_is_named(line: str, moves: list[str], done: list[tuple[str, bool]]) -> None:
    chat = with_changed_files()

    Actions(chat).submit(line)  # type: ignore[arg-type]

    assert (chat.agent.moves, chat.agent.files.done) == (moves, done)


def test_diff_without_words_is_since_the_last_prompt() -> None:
    assert "from None to None" in run("/diff")[1]
    assert "from a to b" in run("/diff a b")[1]


def test_export_names_the_file_and_what_was_taken_out() -> None:
    assert "exported to talk.md\nredacted 2 (key: 2)" in run("/export talk.md")[1]
    assert "/export talk.md" in run("/export")[1]


def test_help_that_is_longer_than_the_screen_is_read_on_the_whole_of_it() -> None:
    chat = FakeChat()
    chat.terminal = terminal(columns=100, rows=24)

    assert (run("/help", chat)[1], chat.screens) == ("", 1)


def test_the_levels_that_help_lists_are_all_there_are() -> None:
    hints = get_type_hints(ModelOptions, include_extras=True)["thinking"]
    said = [each.help for each in hints.__metadata__]

    assert said == [", ".join(THINKING_LEVELS)]


def test_copy_takes_the_last_answer() -> None:
    assert run("/copy")[0].copied == "badger seen"


@pytest.mark.parametrize("line", ["/quit", "/exit"])
def test_quit_leaves(line: str) -> None:
    assert run(line)[0].left


@pytest.mark.parametrize("line", ["exit", "quit", "Exit", "exit ", ":q", ":q!", ":wq"])
def test_u25_what_shells_and_editors_are_left_with_leaves(line: str) -> None:
    chat = run(line)[0]

    assert (chat.left, chat.agent.prompts) == (True, [])


@pytest.mark.parametrize("line", [" exit", "exit now", "quit?", "exit\nplease", ":q and out"])
def test_u25_more_than_that_is_a_prompt(line: str) -> None:
    assert not run(line)[0].left


def test_compact_takes_a_focus() -> None:
    assert run("/compact the herons")[0].agent.compactions == [("the herons", None)]
    assert run("/compact")[0].agent.compactions == [(None, None)]


def test_commands_that_need_rest_wait_for_it_with_their_text() -> None:
    chat = FakeChat()
    chat.busy = True
    for line in ("/new", "/compact now", "!ls"):
        chat.draft = ""
        run(line, chat)
        assert chat.draft == line
    assert len(chat.hints) == 3
    assert chat.screens == 0


def test_a_prompt_while_it_works_steers_and_a_queued_one_follows() -> None:
    chat = FakeChat()
    chat.busy = True
    run("also this", chat)
    Actions(chat).queue("then that")  # type: ignore[arg-type]

    assert [(q.kind, q.text) for q in chat.agent.queued()] == [
        ("steer", "also this"),
        ("follow-up", "then that"),
    ]


def test_models_and_labels_are_picked_from_a_list() -> None:
    chat, _ = run("/model")
    assert chat.screens == 1

    chat.agent.session.given = {chat.agent.session.all[0].id: "nest"}
    run("/checkout", chat)
    assert chat.screens == 2
