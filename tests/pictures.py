"""Makes the pictures of docs/pictures from the real screen: `python -m tests.pictures`.

The real command runs in a pseudo-terminal against a scripted endpoint; what stands on its screen
becomes an SVG. Run it after a change of what the chat looks like.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.support.endpoint import Reply, calls, serve, text
from tests.support.svg import Cell, svg
from tests.support.terminal import CTRL_D, ENTER, ESC, UP, PtyTerminal, pty_terminal

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs/pictures"
BIRDS = "heron 4\nstork 2\nbittern 1\n"
ANSWERS: tuple[Reply, ...] = (
    calls(("c1", "read", {"path": "birds.txt"})),
    calls(("c2", "edit", {"path": "birds.txt", "oldText": "stork 2", "newText": "stork 3"})),
    calls(("c3", "bash", {"command": "sort -k2 -n -r birds.txt"})),
    text(
        "Done: `birds.txt` counts **three storks** now.\n\n"
        "| bird | seen |\n|---|---|\n| heron | 4 |\n| stork | 3 |\n| bittern | 1 |\n"
    ),
    text("The bittern: it stands still among reeds, and only one was seen."),
    text("Eight birds in all."),
)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with TemporaryDirectory() as made, serve(*ANSWERS) as server:
        home = Path(made)
        project = home / "marsh"
        project.mkdir()
        (project / "birds.txt").write_text(BIRDS)
        _git(project)
        (home / "agentsh").mkdir()
        (home / "agentsh" / "history").write_text("")  # no newcomer: without the first page
        env = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": made,
            "AGENTSH_HOME": str(home / "agentsh"),
            "OPENAI_BASE_URL": server.base_url,
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "LANG": "C.UTF-8",
            "COLORFGBG": "15;0",
        }
        _chat(env, project)
        _tree_and_picker(env, project)


def _chat(env: dict[str, str], project: Path) -> None:
    with _started(env, project, rows=34) as terminal:
        _say(terminal, "One more stork was seen. Put it in, and sort the list.")
        terminal.wait("sort -k2 -n -r birds.txt")
        terminal.wait("Allow it?")
        time.sleep(0.8)
        _picture(terminal, "question", "A command is asked about: what, why, and the keys")
        terminal.send("y")
        terminal.wait("bittern  1")
        terminal.wait(lambda: "working" not in terminal.screen)
        terminal.quiet()
        _picture(terminal, "chat", "A turn: a file read, a difference, a command, an answer")
        _say(terminal, "Which is the rarest?")
        terminal.wait("stands still")
        terminal.quiet()
        terminal.send(ESC)
        time.sleep(0.2)
        terminal.send(ESC)
        terminal.wait(lambda: "filter" in terminal.screen)
        terminal.send(UP + UP)
        terminal.quiet()
        terminal.send(ENTER)
        terminal.wait(lambda: "new branch" in terminal.everything)
        terminal.quiet()
        terminal.send("\x15")
        _say(terminal, "How many are there in all?")
        terminal.wait("Eight birds")
        terminal.quiet()
        terminal.send(CTRL_D)
        terminal.ends()


def _tree_and_picker(env: dict[str, str], project: Path) -> None:
    for words in (["label", "last", "leaf~1", "counted"], ["rename", "last", "birds of the marsh"]):
        subprocess.run(["agentsh", *words], env=env, cwd=project, check=True, timeout=30)
    with pty_terminal(["agentsh", "tree"], env=env, cwd=project, rows=22, columns=90) as terminal:
        terminal.ready()
        terminal.wait(lambda: "filter" in terminal.screen)
        terminal.send(UP * 3)
        terminal.quiet()
        _picture(terminal, "tree", "The tree: everything that was said, and what it took")
    for prompt in ("Draw a heron in ASCII.", "What lives in reeds?"):
        subprocess.run(
            ["agentsh", "run", prompt], env=env, cwd=project, check=True, timeout=30,
            capture_output=True,
        )  # fmt: skip
    with pty_terminal(["agentsh", "resume"], env=env, cwd=project, rows=8, columns=90) as terminal:
        terminal.ready()
        terminal.wait(lambda: "type to search" in terminal.screen)
        terminal.quiet()
        _picture(terminal, "picker", "Sessions of this folder, to go on with")


@contextmanager
def _started(env: dict[str, str], project: Path, rows: int) -> Iterator[PtyTerminal]:
    with pty_terminal(["agentsh"], env=env, cwd=project, rows=rows, columns=90) as terminal:
        terminal.ready()
        terminal.wait("approve edits")
        yield terminal


def _say(terminal: PtyTerminal, words: str) -> None:
    terminal.type(words)
    terminal.send(ENTER)


def _picture(terminal: PtyTerminal, name: str, title: str) -> None:
    (FOLDER / f"{name}.svg").write_text(svg(_cells(terminal), title), "utf-8")
    print(f"docs/pictures/{name}.svg")


def _cells(terminal: PtyTerminal) -> list[list[Cell]]:
    return [
        [Cell(c.data, c.fg, c.bg, c.bold, c.italics, c.underscore, c.reverse) for c in row]
        for row in terminal.cells()
    ]


def _git(project: Path) -> None:
    subprocess.run(["git", "init", "-q", "-b", "main", str(project)], check=True, timeout=30)


if __name__ == "__main__":
    main()
