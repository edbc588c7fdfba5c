from __future__ import annotations

import pytest

from agentsh.agent.authors.commands import named_by, spares


@pytest.mark.parametrize(
    "command",
    [
        "ls -la",
        "cat src/a.py",
        "sed -i 's/one/two/' other.py",
        "sed -i '/^gone$/d' other.py lib/b.py",
        "echo 'more text' >> notes.txt",
        "mkdir -p new && mv notes.txt new/notes.txt",
        "git checkout -q -- other.py",
        "git status",
        "printf x > out && cat src/a.py",
    ],
)
def test_a_command_that_is_understood_and_names_other_files_spares_it(command: str) -> None:
    assert spares(command, "src/a.py")


@pytest.mark.parametrize(
    "command",
    [
        "sed -i 's/one/two/' src/a.py",
        "sed -i 's/one/two/' ./src/../src/a.py",
        "sed -i 's/one/two/w src/a.py' other.py",
        "sed -i 's/one/two/e' other.py",
        "sed -e 'w src/a.py' other.py",
        "echo x >> src/a.py",
        "echo x > $OUT",
        "echo x | tee src/a.py",
        "echo x >src/a.py; ls",
        "cat <<E > out\nE\nrm -r src",
        "ls 2> src/a.py",
        "rm -rf src",
        "rm -rf .",
        "mv other/a.py src",
        "cp /tmp/a.py src/",
        "mv x ../here/src/y",
        "git checkout main",
        "git checkout -- .",
        "make",
        "python -c 'print()' && ls",
        "cd src && touch b",
        "for f in *; do echo $f; done",
        "ls `touch src/a.py`",
        "echo 'a && b",
        "",
    ],
)
def test_what_is_not_understood_or_names_it_may_have_changed_it(command: str) -> None:
    assert not spares(command, "src/a.py")


def test_a_file_outside_of_the_folder_is_spared_by_what_changes_nothing_only() -> None:
    assert spares("ls", "/etc/a")
    assert not spares("touch b", "/etc/a")
    assert named_by("touch a b && ls") == frozenset(("a", "b"))
