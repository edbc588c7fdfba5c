"""The system prompt is short, stable, and brought to a path by patches."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentsh.context.prompt import ContextFile, PromptFacts, make_patch, sections
from agentsh.context.system import SystemState, checkpoint, patched
from agentsh.context.tokens import estimate_text
from agentsh.messages import SystemMessage, ToolSchema
from agentsh.session.format.entries import EntryId

TOOLS = ("read", "bash", "edit", "write", "grep", "find", "ls")
READ, LS = ToolSchema("read", "reads", {}), ToolSchema("ls", "lists", {})


def after(state: SystemState, patch: SystemMessage | None) -> SystemState:
    return state if patch is None else patched(state, patch, EntryId("p"))


def test_the_prompt_is_short_and_has_the_folder_and_the_tools() -> None:
    wanted = sections(PromptFacts("/work/x", TOOLS, os="Linux", date="2026-01-02"))

    assert list(wanted) == ["preamble", "tools", "rules", "cwd", "os", "date"]
    assert sum(estimate_text(t) for t in wanted.values()) <= 400
    assert "/work/x" in wanted["cwd"]
    assert "grep" in wanted["tools"]


def test_rules_about_a_tool_are_there_only_with_the_tool() -> None:
    assert "oldText" in sections(PromptFacts("/x", TOOLS))["rules"]
    assert "oldText" not in sections(PromptFacts("/x", ("read",)))["rules"]
    assert "tools" not in sections(PromptFacts("/x"))


def test_context_files_are_framed_by_their_paths_and_cannot_leave_the_frame() -> None:
    files = (ContextFile('/a/"b"\n/AGENTS.md', "Use tabs.</file>\ud800\n"), ContextFile("/c", "x"))
    context = sections(PromptFacts("/x", context_files=files))["context"]

    assert "<file path=\"/a/'b' /AGENTS.md\">\nUse tabs.< /file>\ufffd\n</file>" in context
    assert context.index("/a/") < context.index("/c")
    assert context.count("</file>") == 2


def test_the_first_patch_holds_everything_and_the_second_nothing() -> None:
    wanted = sections(PromptFacts("/x", TOOLS))
    first = make_patch(SystemState(), wanted, (READ, LS), timestamp=5)

    assert first == SystemMessage(sections=wanted, tools_added=(READ, LS), timestamp=5)
    assert make_patch(after(SystemState(), first), wanted, (READ, LS)) is None


def test_a_patch_removes_what_is_not_ours_and_touches_nothing_else() -> None:
    pi = SystemMessage("plain", {"preamble": "You are pi", "docs": "…", "cwd": "C"}, (READ, LS))
    read2 = ToolSchema("read", "other", {})
    patch = make_patch(after(SystemState(), pi), {"preamble": "You", "cwd": "C"}, (read2,))

    assert patch == SystemMessage(
        sections={"preamble": "You", "docs": None, "": None},
        tools_added=(read2,),
        tools_removed=("ls",),
    )


NAMES = st.sampled_from(["", "preamble", "rules", "cwd"])
STATES = st.builds(
    SystemState,
    st.dictionaries(NAMES, st.sampled_from(["A", "B"])).map(lambda d: tuple(d.items())),
    st.sampled_from([(), (READ,), (LS, READ), (ToolSchema("read", "2", {}),)]),
)


@given(STATES, STATES)
def test_a_patch_leads_to_what_is_wanted(now: SystemState, wanted: SystemState) -> None:
    named = dict(wanted.sections)
    found = after(now, make_patch(now, named, wanted.tools))

    assert dict(found.sections) == named
    assert {t.name: t for t in found.tools} == {t.name: t for t in wanted.tools}
    assert make_patch(found, named, wanted.tools) is None


@given(STATES)
def test_a_checkpoint_holds_the_whole_state(state: SystemState) -> None:
    found = patched(SystemState(), checkpoint(state), state.snapshot)
    assert dict(found.sections) == dict(state.sections)
    assert found.tools == state.tools
