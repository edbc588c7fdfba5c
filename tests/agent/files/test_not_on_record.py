"""What states do not hold, and what another program did, is named and never passed over."""

from __future__ import annotations

import json

import pytest

from agentsh.agent.events import Notice
from agentsh.agent.files.checkpoints import RENEWED
from agentsh.agent.files.filestates import state_at
from agentsh.session.format.entries import EntryId
from tests.agent.builders import run
from tests.agent.files.desk import Desk, at_work, bash, write


def test_what_the_agent_wrote_and_no_state_holds_is_named_and_not_called_equal(desk: Desk) -> None:
    desk.put(".gitignore", "*.local\n")
    desk.put("notes.local", "mine")
    prompt = desk.turn("go", write("notes.local", "agent's"))

    plan = desk.agent.files.plan(prompt)
    moved = desk.agent.checkout(prompt, files=True)

    words = "cannot be brought back: notes.local: ignored, so what it was is not recorded"
    assert words in plan.lines()
    assert words in moved.notices
    assert (plan.doable, plan.conflicts) == ((), ())
    assert not any("as they were there already" in line for line in plan.lines())
    assert desk.files()["notes.local"] == "agent's"


def test_after_a_command_it_is_said_that_not_all_is_on_record(desk: Desk) -> None:
    desk.put(".gitignore", "*.local\n")
    desk.put("notes.local", "mine")
    prompt = desk.turn("go", bash("echo x > notes.local"))

    assert (
        "not recorded, and left as they are: 1 ignored" in desk.agent.files.plan(prompt).lines()[-1]
    )


def test_a_mode_that_a_command_changed_comes_back(desk: Desk) -> None:
    desk.put("key", "k")
    (desk.tree / "key").chmod(0o600)
    prompt = desk.turn("go", bash("chmod 644 key"))

    desk.agent.checkout(prompt, files=True)

    assert (desk.tree / "key").stat().st_mode & 0o777 == 0o600


def test_a_damaged_store_is_told_once_and_undo_goes_on(desk: Desk) -> None:
    desk.turn("one", bash("echo 1 > a"))
    store = next((desk.state / "checkpoints").iterdir())
    (store / "index").write_bytes(bytes(100))
    desk.provider.script = [*desk.provider.script, bash("echo 2 > a"), "done"]

    events = run(desk.agent, "two")
    again = desk.turn("three", bash("echo 3 > a"))
    desk.agent.checkout(again, files=True)

    said = [e.text for e in events if isinstance(e, Notice)]
    assert [text for text in said if "damaged" in text] == [RENEWED]
    assert desk.files() == {"a": "2\n"}


def other_turn(desk: Desk, prompt: str, tool: str) -> EntryId:
    """A turn that another program wrote: no stamp of ours, no record of what was started."""
    desk.agent.session.close()
    path = desk.state / "session.jsonl"
    leaf = json.loads(path.read_bytes().splitlines()[-1])["id"]
    call = {"type": "toolCall", "id": f"x{prompt}", "name": tool, "arguments": {"path": "a"}}
    said = [{"type": "text", "text": "done"}]
    messages = [
        {"role": "user", "content": prompt},
        {"role": "assistant", "content": [call], "stopReason": "toolUse"},
        {"role": "toolResult", "toolCallId": f"x{prompt}", "toolName": tool, "content": said},
        {"role": "assistant", "content": said, "stopReason": "stop"},
    ]
    ids = [f"f{len(prompt)}{n}{abs(hash(prompt)) % 10**5:05}"[:8] for n in range(4)]
    with path.open("a") as file:
        for parent, own, message in zip([leaf, *ids], ids, messages, strict=False):
            row = {"type": "message", "id": own, "parentId": parent, "message": message}
            file.write(json.dumps({**row, "timestamp": "2026-01-01T00:00:00.000Z"}) + "\n")
    return EntryId(ids[0])


@pytest.mark.parametrize(
    ("tool", "wanted"), [("write", "1\n"), ("bash", "1\n"), ("other", "1\n"), ("read", "theirs\n")]
)
def test_before_a_prompt_of_another_program_are_the_files_that_it_found(
    desk: Desk, tool: str, wanted: str
) -> None:
    desk.turn("one", bash("echo 1 > a"))
    prompt = other_turn(desk, "theirs", tool)
    desk.put("a", "theirs\n")
    again = at_work(desk.tree, desk.state)
    again.turn("three", bash("echo 3 > a"))

    state = state_at(again.agent.session, again.agent.session.tree.parent(prompt))
    again.agent.checkout(prompt, files=True, overwrite=True)

    assert state is not None
    assert state.exact
    assert again.files() == {"a": wanted}


def test_between_two_turns_of_another_program_the_state_is_not_exact(desk: Desk) -> None:
    desk.turn("one", bash("echo 1 > a"))
    other_turn(desk, "first", "write")
    second = other_turn(desk, "second one", "write")
    again = at_work(desk.tree, desk.state)
    again.turn("three", bash("echo 3 > a"))

    plan = again.agent.files.plan(second)

    assert plan.state is not None
    assert not plan.state.exact
    assert any("not recorded" in line for line in plan.lines())
