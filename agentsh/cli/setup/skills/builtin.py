"""Templates that agentsh brings along: `/review [WHAT]` and `/init`. One of the user's goes before.

Texts and nothing else, so it stands alone beside what finds. Read next: finding.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct


class BuiltinTemplate(Struct, frozen=True):
    """As a file of the user's would be."""

    help: str
    text: str
    arguments: str = ""


_INIT: Final = """\
Write AGENTS.md for this repository: what somebody needs to know who works in it for the first
time. Look first: the README, the build and project files, the folders, the tests, what CI runs.
Then write:

- what the project is, in two sentences, and where what lies
- the commands to build, test (all, and one single test), lint and run; try them where that is cheap
- the conventions that the code really follows, and what surprises

Only what you saw; no advice that holds everywhere. At most 60 lines. If there is an AGENTS.md
already, improve it and keep what is right."""
_CHANGES: Final = (
    "the changes in the working tree (git diff, and new files; the last commit if there are none)"
)
_REVIEW: Final = f"""\
Review ${{@:-{_CHANGES}}}. Change no files.

Read the difference and as much around it as you need. Report only what is wrong or will go wrong:
bugs, lost errors, races, security, broken promises of names and documents, missing tests for what
changed. For each: file and line, what happens, how to see it, what to do. The most serious first;
say so if there is nothing. No praise, no matters of taste."""

BUILTIN_TEMPLATES: Final[Mapping[str, BuiltinTemplate]] = {
    "review": BuiltinTemplate(
        "have the present changes, or what you name, looked through", _REVIEW, "[WHAT]"
    ),
    "init": BuiltinTemplate("have AGENTS.md written from what is in this repository", _INIT),
}
