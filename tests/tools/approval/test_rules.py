from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsh.errors import UsageError
from agentsh.tools.approval.rules import (
    covers,
    covers_path,
    parse_rule,
    path_hint,
    rule_hint,
    why_asked,
)


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("git status", "git status -s"),
        ("git status", '"git" status'),
        ("echo hello", "  echo   hello  'two words; touch p' \"&& x\""),
        ("ls", "ls -la src"),
        ("touch", "touch p"),
        ("npm test", "npm test"),
        ("python manage.py", "python manage.py migrate"),
        ("find", "find . -name x -type f"),
        ("find . -delete", "find . -delete"),
        ("sudo apt-get update", "sudo apt-get update"),
        ("git diff", "git diff HEAD~1 --stat"),
        ("= make all && ls", " make all && ls\n"),
        ("env", "env"),
    ],
)
def test_a_rule_covers_its_command_with_more_harmless_words(rule: str, command: str) -> None:
    assert covers(parse_rule(rule), command)


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("git status", "git status-x"),
        ("git status", "git"),
        ("git status", "git status; touch p"),
        ("git status", "GIT status"),
        ("git status", "./git status"),
        ("echo", "echo $(touch p)"),
        ("git", "git status"),
        ("git", "git -c alias.x='!touch p' x"),
        ("git -c", "git -c core.pager=x log"),
        ("git -C d", "git -C d clean -f"),
        ("git log", "git log --output=p"),
        ("git log", "git log --outp=p"),
        ("git diff", "git diff --ext-diff"),
        ("git fetch", "git fetch --upload-pack=x origin"),
        ("git grep", "git grep -Otouch x"),
        ("git config", "git config alias.x '!touch p'"),
        ("git rebase", "git rebase -x 'touch p' main"),
        ("find", "find . -exec touch p ';'"),
        ("find", "find . -fprintf p x"),
        ("find", "find . -delete"),
        ("sort", "sort -uo p f"),
        ("sort", "sort --outp=p f"),
        ("sort", "sort --compress-program=x f"),
        ("env", "env touch p"),
        ("command", "command touch p"),
        ("xargs", "xargs touch"),
        ("sudo apt-get update", "sudo apt-get update x"),
        ("nice", "nice touch p"),
        ("timeout 5", "timeout 5 touch p"),
        ("bash", "bash -c 'touch p'"),
        ("python", "python -c x"),
        ("python -m", "python -m pytest"),
        ("awk", "awk 'BEGIN{system(\"touch p\")}'"),
        ("sed", "sed -i s/a/b/ f"),
        ("make", "make SHELL=x"),
        ("rg", "rg --pre touch x"),
        ("tar", "tar -xf a.tar --to-command=touch"),
        ("curl", "curl -so p http://x"),
        ("wget", "wget http://x"),
        ("tree", "tree -o p"),
        ("man", "man -P touch ls"),
        ("npm", "npm test"),
        ("npm run", "npm run evil"),
        ("npm test", "npm test --script-shell=x"),
        ("go test", "go test -exec touch"),
        ("someprogram", "someprogram --exec=touch"),
        ("someprogram", "someprogram -o p"),
        ("= make all", "make all x"),
        ("@edit /p/f", "edit /p/f"),
    ],
)
def test_what_could_run_or_write_something_else_asks(rule: str, command: str) -> None:
    assert not covers(parse_rule(rule), command)


@pytest.mark.parametrize("blank", ["\u3000", "\u2028", "\u00a0", "\x0b", "\x1f", "\r"])
def test_only_what_bash_skips_is_left_out_around_an_exact_command(blank: str) -> None:
    rule = parse_rule("= python build.py")

    assert covers(rule, " \tpython build.py\n")
    assert not covers(rule, f"python build.py{blank}")
    assert not covers(rule, f"{blank}python build.py")
    assert covers(parse_rule(f"= python build.py{blank}"), f"python build.py{blank}")


@pytest.mark.parametrize("rule", ["", "  ", "a; b", "a $(b)", "a *", "= ", "@edit rel/path", "X=1"])
def test_a_rule_that_is_no_plain_command_is_refused(rule: str) -> None:
    with pytest.raises(UsageError):
        parse_rule(rule)


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        ("ls -la", "ls"),
        ("git status -s", "git status"),
        ("git -C d log", "git -C d log"),
        ("npm run build --x", "= npm run build --x"),
        ("npm run build", "npm run build"),
        ("npm test", "npm test"),
        ("rm -rf build", "= rm -rf build"),
        ("mkdir -p flamingo", "= mkdir -p flamingo"),
        ("a && b", "= a && b"),
        ("sed -n 1p f", "sed -n 1p"),
        ("python 'my script.py'", "= python 'my script.py'"),
        ("awk '{print $1}' f", "awk '{print $1}'"),
        ("git push origin main", "= git push origin main"),
        ("uv pip list", "uv pip list"),
        ("docker container ls -a", "docker container ls"),
        ("pip install x", "= pip install x"),
        ("python -m pip list", "python -m pip list"),
        ("perl -ne print f", "= perl -ne print f"),
    ],
)
def test_the_hint_is_the_narrowest_sensible_rule(command: str, hint: str) -> None:
    assert rule_hint(command) == hint


COMMANDS = st.lists(
    st.sampled_from(
        ["git", "ls", "echo", "rm", "status", "-o", "x", "'a b'", "$(x)", ";", "--exec=x", "\\'"]
    ),
    min_size=1,
    max_size=5,
).map(" ".join)


@given(COMMANDS)
def test_the_offered_rule_always_covers_the_command_it_was_offered_for(command: str) -> None:
    rule = parse_rule(rule_hint(command))

    assert covers(rule, command)
    assert parse_rule(str(rule)) == rule


def test_a_path_rule_covers_its_file_or_what_is_below_its_folder() -> None:
    file, folder = parse_rule("@edit /p/a.txt"), parse_rule("@edit /p/src/")

    assert covers_path(file, Path("/p/a.txt"))
    assert not covers_path(file, Path("/p/a.txt.bak"))
    assert covers_path(folder, Path("/p/src/deep/x"))
    assert not covers_path(folder, Path("/p/srcx"))
    assert not covers_path(parse_rule("ls"), Path("/p"))
    assert parse_rule(path_hint(Path("/p/a.txt"))) == file


def test_a_question_can_say_why_no_rule_covers() -> None:
    rules = [parse_rule("find"), parse_rule("ls")]

    assert "several lines" in (why_asked(rules, "ls\nls") or "")
    assert "-delete" in (why_asked(rules, "find . -delete") or "")
    assert why_asked(rules, "touch p") is None
    assert covers(parse_rule("find"), "find")
