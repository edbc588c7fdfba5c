"""What each tool promises to the agent, whatever it does (agentsh/tools/base.py)."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
from msgspec import Struct

from agentsh.cli.assembly.tools import own_tools
from agentsh.errors import InvalidArgumentsError, ToolError
from agentsh.jsontext import JsonObject, JsonValue, dumps_text
from agentsh.messages import Image, Text
from agentsh.tools import schemas
from agentsh.tools.base import Effect, Tool
from agentsh.tools.extend.commandtool import CommandSpec, CommandTool
from agentsh.tools.files.edit import EditTool
from agentsh.tools.files.read import ReadTool
from agentsh.tools.files.truncate import MAX_BYTES, MAX_LINES
from agentsh.tools.files.write import WriteTool
from agentsh.tools.history import HistoryTool
from agentsh.tools.search.find import FindTool
from agentsh.tools.search.grep import GrepTool
from agentsh.tools.search.ls import LsTool
from agentsh.tools.shell import leftovers as background
from agentsh.tools.shell.bash import BashTool
from agentsh.tools.shell.jobs import JobsTool
from tests.support.tooling import Bench, text_of
from tests.support.toys import echo
from tests.tools.test_history import Record, passage


class Case(Struct, frozen=True):
    """A tool, a call that works on the bench's files, and one that cannot."""

    make: Callable[[], Tool]
    works: JsonObject
    fails: JsonObject | None = None
    """Checked like any other; its run is an error, by exception or by result."""
    wrong: JsonObject | None = None
    """Refused by the check."""


ID: Final = {"id": "string"}

# larger than a result may be, in lines and in bytes
MUCH: Final = "".join(f"line {number} heron\n" for number in range(20_000))

CASES: Final = {
    "read": Case(ReadTool, {"path": "a.txt"}, {"path": "none.txt"}, {"path": 7}),
    "read much": Case(ReadTool, {"path": "much.txt"}, {"path": "folder"}, {}),
    "write": Case(
        WriteTool, {"path": "new/b.txt", "content": "x\n"}, {"path": "folder", "content": "x"}, {}
    ),
    "edit": Case(
        EditTool,
        {"path": "a.txt", "edits": [{"oldText": "two", "newText": "zwei"}]},
        {"path": "a.txt", "edits": [{"oldText": "nowhere", "newText": "x"}]},
        {"path": "a.txt"},
    ),
    "bash": Case(BashTool, {"command": "echo hi"}, {"command": "exit 3"}, {"command": []}),
    "bash much": Case(BashTool, {"command": "cat much.txt"}, None, {}),
    "grep": Case(GrepTool, {"pattern": "two"}, {"pattern": "x", "path": "none"}, {}),
    "grep much": Case(GrepTool, {"pattern": "heron", "limit": 100_000}, {"pattern": "("}, {}),
    "find": Case(FindTool, {"pattern": "*.txt"}, {"pattern": "*", "path": "none"}, {}),
    "ls": Case(LsTool, {}, {"path": "none"}, {"limit": "many"}),
    "jobs": Case(
        JobsTool, {"action": "list"}, {"action": "read", "id": 999_999_999}, {"action": "dance"}
    ),
    "history": Case(
        lambda: HistoryTool(Record([passage("the heron is grey")])),
        {"query": "heron"},
        {"entry": "none"},
        {"limit": "many"},
    ),
    "history much": Case(
        lambda: HistoryTool(Record([passage(MUCH)])), {"entry": "e1"}, {"entry": "none"}, {}
    ),
    "command": Case(
        lambda: CommandTool(CommandSpec("ticket", "echo $AGENTSH_ARG_ID", "D", parameters=ID)),
        {"id": "7"},
        None,
        {},
    ),
    "command that fails": Case(
        lambda: CommandTool(CommandSpec("no", "exit 3", "D", effect=Effect.READ)), {}, {}, None
    ),
    "toy": Case(echo, {"say": "hi"}, None, {"say": 7}),
}


@pytest.fixture(params=CASES, name="case")
def _case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


@pytest.fixture(name="folder")
def _folder(bench: Bench) -> Iterator[Bench]:
    bench.file("a.txt", "one\ntwo\nthree\n")
    bench.file("much.txt", MUCH)
    bench.file("folder/c.txt", "c\n")
    yield bench
    background.end_all()


def state(bench: Bench) -> dict[str, bytes]:
    """Each file of the project and of the home."""
    return {
        str(path): path.read_bytes()
        for top in (bench.cwd, bench.home)
        for path in sorted(top.rglob("*"))
        if path.is_file()
    }


def test_every_tool_has_a_case() -> None:
    held = {case.make().schema.name for case in CASES.values()}

    assert {offer.name for offer in own_tools()} | {schemas.HISTORY.name} <= held


def test_an_offer_loads_the_tool_that_it_describes() -> None:
    assert [offer.load().schema for offer in own_tools()] == [o.schema for o in own_tools()]


def test_a_schema_is_an_object_whose_required_members_are_described(case: Case) -> None:
    schema = case.make().schema
    parameters = schema.parameters
    properties, required = parameters.get("properties", {}), parameters.get("required", [])

    assert parameters["type"] == "object"
    assert isinstance(properties, dict)
    assert isinstance(required, list)
    assert [name for name in required if name not in properties] == []
    assert schema.description
    assert case.make().schema == schema


def test_a_check_changes_nothing_that_is_checked_and_leaves_the_given_alone(case: Case) -> None:
    tool = case.make()
    given: JsonObject = copy.deepcopy(case.works)
    checked = tool.check(given)

    assert given == case.works
    assert tool.check(checked) == checked
    assert dumps_text(checked)


def test_an_argument_that_nobody_knows_does_not_matter(case: Case, folder: Bench) -> None:
    if case is CASES["toy"]:
        return  # a toy takes what it is given
    tool = case.make()

    assert tool.check({**case.works, "surprise": [1]}) == tool.check(case.works)


def test_wrong_arguments_are_refused_before_anything_is_done(case: Case, folder: Bench) -> None:
    if case.wrong is None:
        return
    before = state(folder)

    with pytest.raises(InvalidArgumentsError):
        case.make().check(case.wrong)
    assert state(folder) == before


def test_what_it_touches_is_a_real_path_and_asking_changes_nothing(
    case: Case, folder: Bench
) -> None:
    tool, before = case.make(), state(folder)
    touched = tool.touches(tool.check(case.works), folder.cwd, folder.home)

    assert [path for path in touched if path != path.resolve()] == []
    assert state(folder) == before


@pytest.mark.parametrize("name", ["read", "write", "edit"])
def test_a_link_is_judged_by_where_it_leads(name: str, folder: Bench) -> None:
    outside = folder.home / "a.txt"
    outside.write_text("two\n")
    (folder.cwd / "link.txt").symlink_to(outside)
    tool = CASES[name].make()
    arguments = tool.check({**CASES[name].works, "path": "link.txt"})

    assert tool.touches(arguments, folder.cwd, folder.home) == (outside.resolve(),)


def test_what_is_expected_is_what_comes_and_expecting_changes_nothing(
    case: Case, folder: Bench
) -> None:
    tool, before = case.make(), state(folder)
    arguments = tool.check(case.works)
    expected = tool.expect(arguments, folder.context())

    assert state(folder) == before
    tool.run(arguments, folder.context())
    assert {
        path: hashlib.sha256(Path(path).read_bytes()).hexdigest() for path in expected or {}
    } == (expected or {})


def test_a_tool_that_only_reads_changes_no_file(case: Case, folder: Bench) -> None:
    tool, before = case.make(), state(folder)
    tool.run(tool.check(case.works), folder.context())

    assert (state(folder) == before) == (tool.effect is not Effect.WRITE)


def test_a_result_is_text_or_a_picture_bounded_and_can_be_stored(case: Case, folder: Bench) -> None:
    tool = case.make()
    outcome = tool.run(tool.check(case.works), folder.context())
    text = text_of(outcome)

    assert outcome.is_error == (case.works == case.fails)
    assert text
    assert all(isinstance(block, Text | Image) for block in outcome.content)
    # beside what is cut there are notes, which say so
    assert len(text.encode()) <= MAX_BYTES + 1000
    assert text.count("\n") <= MAX_LINES + 20
    assert dumps_text(outcome.details)


def test_what_cannot_be_done_is_an_error_of_tools_and_changes_nothing(
    case: Case, folder: Bench
) -> None:
    if case.fails is None:
        return
    tool, before = case.make(), state(folder)
    arguments = tool.check(case.fails)
    try:
        failed = tool.run(arguments, folder.context()).is_error
    except ToolError as e:
        failed = bool(str(e))

    assert failed
    assert state(folder) == before


def test_two_calls_know_nothing_of_one_another(case: Case, folder: Bench) -> None:
    tool = case.make()
    arguments: dict[str, JsonValue] = tool.check(case.works)
    if tool.effect is Effect.WRITE:
        return  # the second one finds another file
    first = text_of(tool.run(arguments, folder.context()))

    assert (
        text_of(case.make().run(arguments, folder.context())).split("[")[0] == first.split("[")[0]
    )
