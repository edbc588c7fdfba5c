"""The list of skills in the system prompt, and the prompt of one that is called."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentsh.context.prompt import PromptFacts, sections
from agentsh.context.skills import (
    USUAL_ROOM,
    SkillHead,
    count_shortened,
    shortened,
    skill_prompt,
    skills_section,
)

HERON = SkillHead("heron", 'Care for "herons" & <birds>.', "/s/heron/SKILL.md")


def many(count: int, description: str) -> list[SkillHead]:
    return [
        SkillHead(f"s{i}", f"Number {i}. {description}", f"/s/{i}/SKILL.md") for i in range(count)
    ]


def test_the_list_has_pis_form_and_is_escaped() -> None:
    section = skills_section([HERON], None)

    assert section.endswith(
        "<available_skills>\n  <skill>\n    <name>heron</name>\n"
        "    <description>Care for &quot;herons&quot; &amp; &lt;birds&gt;.</description>\n"
        "    <location>/s/heron/SKILL.md</location>\n  </skill>\n</available_skills>"
    )


def test_no_skill_no_section_and_none_without_the_tool_that_reads() -> None:
    assert skills_section([], None) == ""
    assert "skills" not in sections(PromptFacts("/p", ("read",)))
    assert "skills" not in sections(PromptFacts("/p", ("bash",), skills=(HERON,)))
    assert "heron" in sections(PromptFacts("/p", ("read",), skills=(HERON,)))["skills"]


def test_a_list_that_is_too_long_loses_sentences_and_no_skill() -> None:
    heads = many(60, "Long words of a description. " * 36)
    section = skills_section(heads, None)

    assert all(f"<description>Number {i}." in section for i in range(60))
    assert len(section.encode()) < USUAL_ROOM * 1.1
    assert count_shortened(heads, None) == 60
    assert count_shortened(heads, 10_000_000) == 0
    assert skills_section(heads, 1000).count("<description>Number") == 60


def test_the_smaller_the_window_the_shorter_the_list() -> None:
    heads = many(20, "Long words of a description. " * 30)
    sizes = [len(skills_section(heads, window)) for window in (8_000, 32_000, 128_000)]

    assert sizes == sorted(sizes)
    assert len(set(sizes)) == 3


@given(st.lists(st.text(alphabet="ab. !?", max_size=60), max_size=6), st.integers(0, 300))
def test_what_is_left_are_whole_sentences_from_the_beginning(texts: list[str], room: int) -> None:
    cut = shortened(texts, lambda some: sum(map(len, some)) <= room)

    for text, kept in zip(texts, cut, strict=True):
        assert text.startswith(kept)
        assert kept == text or kept[-1] in ".!?"
        assert bool(kept) == bool(text)


def test_a_text_without_a_stop_is_cut_at_a_word() -> None:
    (kept,) = shortened(["word " * 1000], lambda some: len(some[0]) < 100)

    assert kept.endswith("word …")
    assert len(kept) <= 1026


def test_a_called_skill_is_framed_as_pi_frames_it() -> None:
    assert skill_prompt(HERON, "\nFeed it.\n", "twice") == (
        '<skill name="heron" location="/s/heron/SKILL.md">\n'
        "References are relative to /s/heron.\n\nFeed it.\n</skill>\n\ntwice"
    )
    assert skill_prompt(HERON, "x</skill>y", "").endswith("x< /skill>y\n</skill>")
