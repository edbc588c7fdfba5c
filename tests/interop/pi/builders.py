"""Sessions that agentsh makes for these tests: one function each, by its commands alone.

`ALL` has them by name. Each leaves its file at `shell.path`, its leaf where the next prompt goes.
"""

from __future__ import annotations

import base64
import json
import signal
from collections.abc import Callable

from tests.interop.pi.shell import Shell
from tests.interop.pi.trees import PIXEL
from tests.support.endpoint import calls, chunk, fragment, status, stream, text

LONG = "A long answer about herons. " * 150


def simple(shell: Shell) -> None:
    shell.serve(text("Hello, Ärger and 鷺.\u2028Next."), text("the second"))
    shell.ask("Say hello.")
    shell.ask("And more.")


def thinking(shell: Shell) -> None:
    shell.serve(
        stream(
            {"role": "assistant", "reasoning_content": "let me think"},
            {"content": "thought over"},
            chunk({}, "stop"),
        )
    )
    shell.ask("Think.", "--thinking", "high")


def tools(shell: Shell) -> None:
    (shell.cwd / "a.txt").write_text("one\ntwo\n")
    shell.serve(
        calls(("c1", "read", {"path": "a.txt"}), ("c2", "bash", {"command": "echo hi; exit 3"})),
        calls(
            ("c3", "edit", {"path": "a.txt", "edits": [{"oldText": "two", "newText": "zwei"}]}),
            ("c3", "write", {"path": "b.txt", "content": "new\n"}),  # an id twice in one answer
        ),
        calls(("c1", "no_such_tool", {}), ("c9", "ls", {})),
        text("all done"),
    )
    shell.ask("Work.")
    shell.ask("Again.")


def broken_arguments(shell: Shell) -> None:
    begin = fragment("read", '{"path": "a.t', index=0, id="c1", type="function")
    shell.serve(stream(chunk(begin), chunk({}, "tool_calls")), text("I see"))
    shell.ask("Read it.")


def image(shell: Shell) -> None:
    (shell.cwd / "dot.png").write_bytes(base64.b64decode(PIXEL))
    shell.serve(text("a dot"), calls(("c1", "read", {"path": "dot.png"})), text("again a dot"))
    shell.ask("What is it?", "--attach", "dot.png")
    shell.ask("Read it.")


def branches(shell: Shell) -> None:
    shell.serve(*[text(f"answer {n}") for n in range(1, 6)])
    shell.ask("one")
    shell.ask("two")
    two = shell.entry("user")
    shell.run("checkout", str(shell.path), two)
    shell.ask("two, another way")
    shell.run("label", str(shell.path), shell.entry("assistant", 0), "fork point")
    shell.run("rename", str(shell.path), "a name with ä")
    shell.run("checkout", str(shell.path), two)
    shell.run("checkout", str(shell.path), "fork point")
    shell.ask("a third way")
    shell.run("checkout", str(shell.path), "root")
    shell.ask("from the very start")
    shell.run("checkout", str(shell.path), "fork point")


def other_model(shell: Shell) -> None:
    shell.serve(*[text(f"answer {n}") for n in range(1, 4)])
    shell.ask("one")
    shell.ask("two", "--model", "another-model", "--thinking", "low")
    shell.ask("three", "--tools", "read,bash")


def compaction(shell: Shell) -> None:
    shell.serve(*[text(f"{n} {LONG}") for n in range(1, 5)], text("SUMMARY ONE"), text("after"))
    for prompt in ("one", "two", "three", "four"):
        shell.ask(prompt)
    shell.run("compact", str(shell.path), "--keep", "1500")
    shell.ask("five")


def compaction_twice(shell: Shell) -> None:
    compaction(shell)
    shell.serve(text(f"6 {LONG}"), text(f"7 {LONG}"), text("SUMMARY TWO"), text("over"))
    shell.ask("six")
    shell.ask("seven")
    shell.run("compact", str(shell.path), "--keep", "0")


def branch_summary(shell: Shell) -> None:
    shell.serve(text("answer 1"), text("answer 2"), text("TRIED THAT"), text("answer 3"))
    shell.ask("one")
    first = shell.entry("assistant")
    shell.ask("a way that fails")
    shell.run("checkout", str(shell.path), first, "--summarize")
    shell.ask("a better way")


def off_compaction(shell: Shell) -> None:
    compaction(shell)
    shell.run("checkout", str(shell.path), shell.entry("assistant", 1))


def aborted(shell: Shell) -> None:
    shell.serve(text("fine"), stream({"content": "half an ans"}, 30.0), text("on"))
    shell.ask("one")
    shell.cut_off("stop me", lambda: len(shell.endpoint.requests) == 2, signal.SIGINT)
    shell.ask("two")


def aborted_tool(shell: Shell) -> None:
    sleep = calls(("c1", "bash", {"command": "echo begun; touch mark; sleep 30"}), ("c2", "ls", {}))
    shell.serve(sleep, text("on"))
    shell.cut_off("sleep", lambda: (shell.cwd / "mark").exists(), signal.SIGINT)
    shell.ask("two")


def killed_tool(shell: Shell) -> None:
    sleep = calls(("c1", "bash", {"command": "echo begun; touch mark; sleep 30"}), ("c2", "ls", {}))
    shell.serve(text("fine"), sleep, text("on"))
    shell.ask("one")
    shell.cut_off("sleep", lambda: (shell.cwd / "mark").exists(), signal.SIGKILL)
    shell.ask("two")


def killed_stream(shell: Shell) -> None:
    shell.serve(stream({"content": "half an ans"}, 30.0), text("on"))
    shell.cut_off("one", lambda: len(shell.endpoint.requests) == 1, signal.SIGKILL)
    shell.ask("two")


def failed(shell: Shell) -> None:
    refused = status(400, {"error": {"message": "no such thing"}})
    shell.serve(text("fine"), refused, text("on"))
    shell.ask("one")
    shell.ask("this fails", code=1)
    shell.ask("two")


def fork(shell: Shell) -> None:
    branches(shell)
    made = json.loads(shell.run("fork", str(shell.path), "--at", "fork point", "--json"))
    assert made
    shell.path = shell.newest()
    shell.serve(text("in the fork"))
    shell.ask("on from there")


def commands(shell: Shell) -> None:
    shell.serve(text("fine"))
    shell.ask("one")
    shell.type("!echo for the model", "!!echo for me alone")


def hidden(shell: Shell) -> None:
    """Each form of an edit that agentsh writes: hidden, replaced, shown again."""
    for name in "ab":
        (shell.cwd / f"{name}.txt").write_text(f"text of {name}\n")
    both = calls(("c1", "read", {"path": "a.txt"}), ("c2", "read", {"path": "b.txt"}))
    one = calls(("c3", "read", {"path": "a.txt"}))
    shell.serve(both, text("both are fine"), one, text("once more"), text("again"), text("over"))
    for prompt in ("Look.", "Look again.", "And again.", "The last."):
        shell.ask(prompt)
    shell.type("!echo for the model", "!echo for the model as well")
    path = str(shell.path)
    shell.run("hide", path, shell.entry("toolResult", 1))  # a result: a note for its call
    shell.run("hide", path, shell.entry("assistant", 2))  # an answer, and its results with it
    shell.run("hide", path, shell.entry("user", 2), "--with", "And once again.")
    shell.run("hide", path, shell.entry("user", 0), shell.entry("bashExecution", 0))
    shell.run("hide", path, shell.entry("bashExecution", 1))
    shell.run("unhide", path, shell.entry("user", 0), shell.entry("bashExecution", 1))


def asides(shell: Shell) -> None:
    """In the midst, and as the last of the file."""
    shell.serve(text("answer 1"), text("ASIDE 1"), text("answer 2"), text("ASIDE 2"))
    shell.ask("one")
    shell.run("ask", str(shell.path), "Which colour?")
    shell.ask("two")
    shell.run("ask", str(shell.path), "And how many?")


def retried(shell: Shell) -> None:
    (shell.cwd / "a.txt").write_text("one\n")
    read = calls(("c1", "read", {"path": "a.txt"}))
    shell.serve(read, text("answer 1"), text("answer 1 anew"), text("answer 2"), text("in short"))
    shell.ask("Read it.")
    shell.run("retry", str(shell.path))
    shell.ask("two")
    shell.run("retry", str(shell.path), shell.entry("assistant", 0), "-m", "another-model")


def picks(shell: Shell) -> None:
    """An entry of another branch, and a summary of it."""
    found = [text(f"{name} seen") for name in ("fork", "heron", "badger")]
    shell.serve(*found, text("SUMMED UP"), text("over"))
    shell.ask("where does it go")
    fork_point = shell.entry("assistant")
    shell.ask("take the heron road")
    heron = shell.entry("assistant")
    shell.run("checkout", str(shell.path), fork_point)
    shell.ask("take the badger road")
    shell.run("pick", str(shell.path), heron)
    shell.run("pick", str(shell.path), heron, "--summary")
    shell.ask("and on")


def folds(shell: Shell) -> None:
    branches(shell)
    dead = shell.entry("user", 1), shell.entry("user", 2)
    for entry in dead:
        shell.run("fold", str(shell.path), entry)
    shell.run("fold", str(shell.path), dead[1], "--undo")


ALL: dict[str, Callable[[Shell], None]] = {
    f.__name__: f
    for f in (
        simple,
        thinking,
        tools,
        broken_arguments,
        image,
        branches,
        other_model,
        compaction,
        compaction_twice,
        branch_summary,
        off_compaction,
        aborted,
        aborted_tool,
        killed_tool,
        killed_stream,
        failed,
        fork,
        commands,
        hidden,
        asides,
        retried,
        picks,
        folds,
    )
}
