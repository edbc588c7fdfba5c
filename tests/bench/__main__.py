"""`python -m tests.bench [start stream steps resume append verify listing …]`: these, or all."""

from __future__ import annotations

import sys

from tests.bench import (
    append,
    doors,
    explore,
    explorescale,
    keys,
    listing,
    resume,
    start,
    steps,
    stream,
    verify,
    why,
)

PARTS = {
    "start": start.main,
    "stream": stream.main,
    "steps": steps.main,
    "resume": resume.main,
    "append": append.main,
    "verify": verify.main,
    "listing": listing.main,
    "keys": keys.main,
    "why": why.main,
    "doors": doors.main,
    "explore": explore.main,
    "explorescale": explorescale.main,
}


def main(words: list[str]) -> int:
    unknown = [word for word in words if word not in PARTS]
    if unknown:
        print(f"no part {', '.join(unknown)}; there are: {', '.join(PARTS)}")
        return 2
    for word in words or PARTS:
        print(f"\n## {word}")
        PARTS[word]()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
