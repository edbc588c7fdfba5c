"""Words have one meaning: what the glossary does not say is no public name.

That a public name has one home is a claim of test_architecture.py.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict

from tests.support import ratchets
from tests.support.prose import ROOT, SOURCE, homes, name_of, tree_of

GLOSSARY = ROOT / "docs/glossary.md"
# what a name says of the moment in which it is bound, and not of what it holds
OF_A_MOMENT = {"found", "at", "place", "rest", "wanted", "known", "kept", "told"}


def rows() -> list[tuple[str, str]]:
    """Word → what is not said for it, of the glossary."""
    lines = (
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in GLOSSARY.read_text("utf-8").split("\n")
        if line.startswith("|")
    )
    return [(word, other) for word, _, other in lines if word not in {"word", "---"}]


def words() -> set[str]:
    """What the glossary defines."""
    cells = (word.replace(" / ", ", ").split(", ") for word, _ in rows())
    return {word for cell in cells for word in cell}


def unsaid() -> dict[str, str]:
    """Word that is not said → the word that is; not those that the same cell gives a meaning."""
    return {
        other.strip(): word
        for word, cell in rows()
        for other in re.split(r"[,;]", cell)
        if other.strip() and "(" not in other and ")" not in other
    }


def spellings(word: str) -> set[str]:
    """As a name of the code, one or several of it."""
    snake = re.sub(r"[ -]", "_", word)
    camel = "".join(part.capitalize() for part in snake.split("_"))
    return {form + end for form in (snake, camel, snake.upper()) for end in ("", "s", "S")}


def misnamed() -> dict[str, list[str]]:
    """Word that is not said → names of the code that say it, modules too."""
    modules: defaultdict[str, set[str]] = defaultdict(set)
    for path in SOURCE:
        modules[path.stem].add(name_of(path))
    result: dict[str, list[str]] = {}
    for word in unsaid():
        if word in words():
            continue
        places = {
            place
            for name in spellings(word)
            for place in (
                *(f"{module}: {name}" for module in homes().get(name, ())),
                *modules.get(name, ()),
            )
        }
        if places:
            result[word] = sorted(places)
    return result


def test_what_the_glossary_does_not_say_is_no_public_name() -> None:
    wrong = {
        f"{word} (say {unsaid()[word]})": places
        for word, places in misnamed().items()
        if word not in ratchets.OTHER_MEANINGS
    }

    assert wrong == {}


def test_each_other_meaning_is_used() -> None:
    idle = sorted(set(ratchets.OTHER_MEANINGS) - set(misnamed()))

    assert idle == [], "no name says these now: drop them in tests/support/ratchets.py"


def test_few_locals_are_called_after_a_moment_instead_of_what_they_hold() -> None:
    bound: Counter[str] = Counter()
    for path in SOURCE:
        for node in ast.walk(tree_of(path)):
            match node:
                case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                    bound[name_of(path)] += name in OF_A_MOMENT
                case _:
                    pass

    assert bound.total() <= ratchets.NAMED_AFTER_A_MOMENT, bound.most_common(9)
