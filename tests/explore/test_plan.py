"""A task file says what is to be run, or which line is wrong, before anything is made."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.errors import UsageError
from agentsh.explore.plan import ExploreTask, PlannedBranch, plan_branches, read_tasks

prompts = st.text(min_size=1).filter(lambda text: text.strip() != "")


class Places:
    """All folders but the nameless, and one revision."""

    def folder(self, word: str) -> str | None:
        return f"/real/{word}" if word else None

    def has_revision(self, folder: str | None, word: str) -> bool:
        return word == "v1"


def tasks_of(text: str, **names: str) -> tuple[ExploreTask, ...]:
    return read_tasks(text, "t.jsonl", names, Places())


@given(st.lists(st.tuples(prompts, st.dictionaries(st.text(min_size=1), st.integers()))))
def test_a_line_of_json_gives_its_prompt_and_what_is_not_ours_comes_back(
    rows: list[tuple[str, dict[str, int]]],
) -> None:
    ours = {"id", "prompt", "folder", "base", "check", "model"}
    wanted = [(prompt, {k: v for k, v in more.items() if k not in ours}) for prompt, more in rows]
    text = "".join(json.dumps({"prompt": prompt, **more}) + "\n" for prompt, more in wanted)
    if not wanted:
        with pytest.raises(UsageError, match="holds no task"):
            tasks_of(text)
        return

    assert [(task.prompt, dict(task.extra)) for task in tasks_of(text)] == wanted


def test_plain_lines_are_prompts_in_their_order_and_blank_ones_are_left_out() -> None:
    assert [t.prompt for t in tasks_of("one\r\n\n  two «é»\nthree")] == [
        "one",
        "  two «é»",
        "three",
    ]


def test_a_member_may_be_spelled_in_another_way() -> None:
    [task] = tasks_of('{"problem_statement": "p", "instance_id": "i"}', prompt="problem_statement")

    assert (task.prompt, task.id, task.extra) == ("p", "1", {"instance_id": "i"})


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"prompt": ', "no JSON object"),
        ('{"id": "b"}', "no member 'prompt'"),
        ('{"prompt": "p", "id": "a"}', "stands in line 1 already"),
        ('{"prompt": ["p"]}', "'prompt' is no text"),
        ('{"prompt": "p", "folder": ""}', "there is no folder"),
        ('{"prompt": "p", "check": "a\\u0000b"}', "'check' holds a NUL"),
        ('{"prompt": "p", "folder": "a\\u0000b"}', "'folder' holds a NUL"),
    ],
)
def test_a_wrong_line_is_named_with_its_number(line: str, words: str) -> None:
    with pytest.raises(UsageError, match=rf"t\.jsonl:2: .*{words}"):
        tasks_of('{"prompt": "p", "id": "a"}\n' + line)


@pytest.mark.parametrize(
    ("count", "models", "each", "branches"),
    [
        (1, [], None, 3),
        (1, ["a"], None, 3),
        (1, ["a", "b"], None, 2),
        (4, ["a"], None, 4),
        (2, ["a", "b"], 2, 8),
    ],
)
def test_a_single_prompt_gets_three_branches_and_else_each_gets_one(
    count: int, models: list[str], each: int | None, branches: int
) -> None:
    planned = plan_branches([ExploreTask(str(n), "p") for n in range(count)], models, each)

    assert [branch.n for branch in planned] == list(range(1, branches + 1))
    assert [branch.task for branch in planned] == sorted(branch.task for branch in planned)


def test_a_model_that_stands_at_a_task_is_asked_and_no_other() -> None:
    tasks = [ExploreTask("1", "p", model="own"), ExploreTask("2", "q")]

    assert plan_branches(tasks, ["a"], 1) == (
        PlannedBranch(1, 0, "own", 1),
        PlannedBranch(2, 1, "a", 1),
    )


def test_a_revision_that_is_none_is_named_with_its_line() -> None:
    [task] = tasks_of('{"prompt": "p", "base": "v1"}')
    assert task.base == "v1"

    with pytest.raises(UsageError, match=r"t\.jsonl:2: there is no revision 'v2' in /real/d"):
        tasks_of('{"prompt": "p"}\n{"prompt": "p", "base": "v2", "folder": "d"}')
