"""Files that give orders, and rules about files and exact commands, against what means harm."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from agentsh.settings import POLICIES, Policy
from agentsh.tools.approval.policy import Asked, CallFacts, decide
from agentsh.tools.approval.rules import covers, covers_path, gives_orders, parse_rule
from agentsh.tools.base import Effect

CWD = Path("/home/u/project")
ORDERS = [
    *(
        ".env",
        "sub/.env",
        ".agentsh/config.toml",
        "a/b/.agentsh/x",
        ".git/hooks/x",
        "s/.git/config",
    ),
    *("HEAD", "bare/HEAD", ".Git/config", ".ENV", ".AgentSH/config.toml", "head", "GIT~1/config"),
    *(".g\u200cit/config", ".env\u200d", ".env.", ".git /config", ".git", ".lfsconfig"),
    *(".hg/hgrc", "sub/.jj/repo/config.toml"),
    *(".g\ufe0fit/config", ".\u034fenv", ".agent\u017fh/config.toml", ".\u3164git/x"),
]
EXACT = "make all && ls"
# whatever is put before, behind, between, or in place of a part of an exact rule's text
PUT = ["; pwn", "&& pwn", "| pwn", "& pwn", "\npwn", "> x", "$(pwn)", "`pwn`", "x", "-f evil", "#"]
HOSTILE_EXACT = [
    *(f"{EXACT} {put}" for put in PUT),
    *(f"{put} {EXACT}" for put in PUT),
    *(f"{EXACT}{put}" for put in PUT),
    *(f"{put}{EXACT}" for put in PUT),
    *(EXACT.replace("all", f"all{put}") for put in PUT),
    *(EXACT.replace("&&", put) for put in PUT),
    *(EXACT.replace("ls", f"{put}ls") for put in PUT),
    *(EXACT.replace("make", f"make {put}") for put in PUT),
    *(EXACT.replace(" ", blank) for blank in ("\t", "\u00a0", "\u2003", "  ", "\n", "")),
    *(EXACT.upper(), EXACT.title(), EXACT[:-1], EXACT[1:], "make all", "ls", "", "make all & ls"),
    *(f"\u200b{EXACT}", f"{EXACT}\u200b", f"({EXACT})", f"{{ {EXACT}; }}", f"'{EXACT}'"),
]
FOLDERS = ["/p/src/../", "/p/", "/p/srcx/", "/p/SRC/", "/p/src.bak/", "/", "/p/sr/", "/q/p/src/"]
HOSTILE_PATHS = [
    *(f"{folder}{name}" for folder, name in product(FOLDERS, ("a", "b/c", ".bashrc", "x.py"))),
    *(f"/p/src/{order}" for order in ORDERS),
    *(f"/p/src/deep/er/{order}" for order in ORDERS),
    *(f"/p/src/{order}/x" for order in ORDERS),
    *("/p", "/p/src\n/a", "/p/src /a"),
]


@pytest.mark.parametrize("name", ORDERS)
@pytest.mark.parametrize("policy", POLICIES)
def test_what_gives_orders_is_not_inside_whether_it_is_there_or_new(
    name: str, policy: Policy
) -> None:
    def judged(*, sandboxed: bool) -> str:
        call = CallFacts("write", Effect.WRITE, (CWD / name,))
        return type(decide(policy, call, cwd=CWD, sandboxed=sandboxed)).__name__

    wanted = {"edits": "Asked", "ask": "Asked", "never": "Refused", "all": "Allowed"}
    assert judged(sandboxed=False) == wanted[policy]
    assert judged(sandboxed=True) == "Refused"


@pytest.mark.parametrize(
    "name", ["env", ".envrc", ".env.local", "git/x", ".github/x", ".gitignore", "heads", "HEADER"]
)
def test_names_that_only_resemble_those_are_plain_files(name: str) -> None:
    assert not gives_orders(Path(name))


def test_a_file_that_the_settings_run_is_not_inside_either() -> None:
    hook = CWD / "scripts/check.sh"
    decision = decide("edits", CallFacts("write", Effect.WRITE, (hook,)), cwd=CWD, own=(hook,))

    assert isinstance(decision, Asked)
    assert decision.why == "agentsh or git takes orders from it"


@pytest.mark.parametrize("command", HOSTILE_EXACT)
def test_an_exact_rule_covers_its_text_and_no_other(command: str) -> None:
    assert not covers(parse_rule(f"= {EXACT}"), command)


@pytest.mark.parametrize("path", HOSTILE_PATHS)
def test_a_rule_for_a_folder_covers_no_other_place_and_nothing_that_gives_orders(path: str) -> None:
    rule = parse_rule("@edit /p/src/")

    assert not covers_path(rule, Path(path).resolve())


def test_at_least_a_hundred_are_tried_of_each_kind() -> None:
    assert len(set(HOSTILE_EXACT)) >= 100
    assert len(set(HOSTILE_PATHS)) >= 85


def test_a_file_that_gives_orders_can_be_named() -> None:
    assert covers_path(parse_rule("@edit /p/.env"), Path("/p/.env"))
    assert covers_path(parse_rule("@edit /p/.git/"), Path("/p/.git/info/exclude"))


def test_a_rule_for_a_folder_does_not_cover_what_the_settings_name_in_it() -> None:
    home, hook = Path("/p/state"), Path("/p/tools/hook.sh")
    own = (home, hook, Path("/p/.githooks"))

    for path in (home / "config.toml", hook, Path("/p/.githooks/pre-commit")):
        assert not covers_path(parse_rule("@edit /p/"), path, own)
        call = CallFacts("write", Effect.WRITE, (path,))
        judged = decide("ask", call, [parse_rule("@edit /p/")], cwd=Path("/p"), own=own)
        assert isinstance(judged, Asked)
    assert covers_path(parse_rule("@edit /p/"), Path("/p/tools/hook.sh.txt"), own)
    assert covers_path(parse_rule(f"@edit {hook}"), hook, own)
    assert covers_path(parse_rule("@edit /p/.githooks/"), Path("/p/.githooks/pre-commit"), own)
