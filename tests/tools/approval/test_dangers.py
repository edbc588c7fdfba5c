"""What a rule covers is held against bash itself, and against lines that mean harm.

A line of the tables is `rule => command`; each must ask. The property runs whatever is covered in a
real bash, where every program is one of ours that only writes down that it was started.
"""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsh.tools.approval.programs import EVALUATING, HARMLESS, SUBCOMMANDS, WHOLE, canonical
from agentsh.tools.approval.rules import covers, parse_rule, rule_hint

PWN = ("a[$(pwn)]", "a[`pwn`]", "x[$(pwn)]=1", "${a[$(pwn)]}", "$(pwn)", "a[${x:-$(pwn)}]")

# builtins of bash that take a name or a number: under a rule of their name, and with some words
EVALUATORS = [
    f"{rule} => {rule} {before} {shlex.quote(pwn)}"
    for pwn in PWN
    for rule, before in (
        ("printf", "-v"),
        ("printf", "%s -v"),
        ("printf x", "-v"),
        ("printf", "%n"),
        ("test", "-v"),
        ("test", "-R"),
        ("test x", "-eq"),
        ("test", "1 -eq"),
        ("'['", "-v"),
        ("'['", "1 -lt"),
        ("let", ""),
        ("declare", "-i"),
        ("declare -i", "x=1"),
        ("typeset", ""),
        ("local", ""),
        ("export", ""),
        ("readonly", ""),
        ("read", "-r"),
        ("read -r", ""),
        ("unset", "-v"),
        ("wait", "-p"),
        ("wait -p", ""),
        ("mapfile", "-C"),
        ("mapfile -t", "-C"),
        ("readarray", "-C pwn -c 1"),
        ("trap", ""),
        ("eval", ""),
        ("getopts", "x"),
        ("shift", ""),
        ("exit", ""),
        ("return", ""),
        ("jobs", "-x"),
        ("kill", ""),
        ("ulimit", "-n"),
        ("coproc_x; declare", ""),
        ("/usr/bin/printf", "-v"),
    )
    if ";" not in rule
]

PROGRAMS = (Path(__file__).parents[2] / "data/hostile-commands.txt").read_text("utf-8")


def lines(table: str) -> list[str]:
    return [line for line in table.strip().split("\n") if line]


@pytest.mark.parametrize("line", [*EVALUATORS, *lines(PROGRAMS)])
def test_a_hostile_line_asks_under_a_rule_that_begins_like_it(line: str) -> None:
    rule, command = line.split(" => ", 1)

    assert not covers(parse_rule(rule), command)


def test_at_least_a_hundred_lines_are_tried_of_each_kind() -> None:
    assert len(EVALUATORS) >= 100
    assert len(lines(PROGRAMS)) >= 200


@pytest.mark.parametrize(
    "line",
    lines("""
        sed -n 5p => sed -n 5p a.txt
        sed -n 5p => sed -n 5p -E a.txt
        git log => git log -3 --stat
        git status => git status --short
        git diff => git diff HEAD~1 -U3 -- a.txt
        git push origin => git push origin main
        git --no-pager log => git --no-pager log -p
        awk -F: '{print $1}' => awk -F: '{print $1}' /etc/passwd
        perl -ne 'print if /x/' => perl -ne 'print if /x/' a.txt
        printf => printf '%s [%d]' a 3
        test => test -f a.txt
        '[' => '[' -n x ']'
        python -m pytest => python -m pytest -x tests
        pytest => pytest -q -k x tests/a.py::b
        npm run build => npm run build -- --watch
        cargo test => cargo test --release -- --nocapture
        go test => go test -run X ./pkg
        docker ps => docker ps -a
        kubectl get => kubectl get pods -n x -o yaml
        curl => curl -sS http://x
        curl => curl 'HTTPS://x/a?b=[1]&c={2}'
        curl => curl -s localhost:8080/health
        bun run build => bun run build
        bun test => bun test a.test.ts
        tsx watch a.ts => tsx watch a.ts --fast
        git switch => git switch -c new
        git checkout => git checkout HEAD~1 -- a.txt
        git diff => git diff HEAD -- .env
        git mv => git mv a.txt .gitignore
        mv => mv env.txt .env.example
        cp => cp -r a b
        cat => cat /proc/cpuinfo /proc/sys/kernel/ostype src/proc/1a
        ps => ps aux
        ps => ps -ef --sort=-rss
        ps => ps -p 1234 -o pid,cmd
        touch => touch p
        ./check.sh => ./check.sh unit --fast
    """),
)
def test_plain_words_and_options_that_only_choose_stay_covered(line: str) -> None:
    rule, command = line.strip().split(" => ", 1)

    assert covers(parse_rule(rule), command)


def test_every_builtin_of_bash_is_known() -> None:
    listed = subprocess.run(
        ["bash", "-c", "compgen -b"], capture_output=True, text=True, check=True
    ).stdout.split()

    assert len(listed) > 50
    assert set(listed) <= HARMLESS | EVALUATING | WHOLE


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("/usr/bin/python3.11", "python"),
        ("PERL5.36.exe", "perl"),
        ("gsed", "sed"),
        ("x86_64-linux-gnu-gcc-12", "gcc"),
        ("vim.tiny", "vim"),
        ("bash-static", "bash"),
        ("./evil-echo", "evil-echo"),
        ("cat.sh", "cat.sh"),
        ("test.sh", "test.sh"),
        ("echo2", "echo2"),
        ("[", "["),
    ],
)
def test_a_program_is_known_by_each_of_its_names_but_never_for_a_harmless_one(
    word: str, name: str
) -> None:
    assert canonical(word) == name


@pytest.mark.parametrize("program", sorted(SUBCOMMANDS))
def test_the_rule_that_is_offered_covers_no_other_action(program: str) -> None:
    for action in ("exec", "run", "install", "delete", "remove", "apply", "push", "foreach"):
        for words in ("x", "x -- pwn", "./evil"):
            hint = rule_hint(f"{program} {action} {words}")
            is_script = action == "run" and program in ("npm", "pnpm", "yarn", "bun")
            given = f"{program} run {words.split()[0]}"
            assert hint == (given if is_script else f"= {program} {action} {words}")


WORDS = st.sampled_from(
    (
        *PWN,
        *("-v", "-n", "-e", "-f", "-i", "-x", "-C", "-p", "-c", "--", "-", "x", "a.txt", "pwn"),
        *("pwn|", "|pwn", "-exec", ";", "-fpwn", "--pre=pwn", "%s", "%n", "-eq", "1", "=", "]"),
    )
)
RULES = st.sampled_from(
    (
        *("printf", "test", "'['", "printf %s", "test x", "echo", "type", "let", "read", "wait"),
        *("declare", "unset", "mapfile", "eval", "command", "exec", "jobs", "getopts", "export"),
        *("grep x", "find .", "sed -n p", "git log", "git status", "env", "xargs", "tool", "sort"),
        *("kill", "shift", "exit", "return", "local", "readonly", "hash", "enable", "source"),
        *("trap", ".", "cat"),
    )
)


@pytest.fixture(scope="module")
def stubs() -> Iterator[Path]:
    """A PATH on which every program writes its name and does nothing else."""
    with TemporaryDirectory() as folder:
        place = Path(folder, "bin")
        place.mkdir()
        stub = place / "pwn"
        stub.write_text('#!/bin/sh\necho "${0##*/}" >> "$STARTED"\n')
        stub.chmod(0o755)
        for name in ("cat", "grep", "find", "sed", "git", "env", "xargs", "tool", "sort", "x"):
            (place / name).symlink_to(stub)
        yield place


@settings(max_examples=300, deadline=None)
@given(rule=RULES, words=st.lists(WORDS, max_size=4))
def test_whatever_a_rule_covers_starts_its_own_program_and_no_other(
    rule: str, words: list[str], stubs: Path
) -> None:
    command = " ".join((rule, *map(shlex.quote, words)))
    if not covers(parse_rule(rule), command):
        return
    started = stubs.parent / "started"
    started.write_text("")

    subprocess.run(
        ["/bin/bash", "-c", command],
        env={"PATH": str(stubs), "STARTED": str(started)},
        cwd=stubs.parent,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=20,
        check=False,
    )

    assert set(started.read_text().split()) <= {shlex.split(rule)[0]}
    assert sorted(each.name for each in stubs.parent.iterdir()) == ["bin", "started"]
