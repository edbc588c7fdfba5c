"""A child that writes turns into a session which another one writes, too.

    racing_writer.py FILE NAME TURNS SEED

It opens the session as any writer does, is refused while the other one holds it, writes a few
turns, lets go, and comes back until it has written them all.
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

from agentsh.errors import SessionLockedError
from agentsh.messages import AssistantMessage, Text, Usage, UserMessage
from agentsh.session.file.session import Session, open_session
from agentsh.session.format.entries import MessageBody
from agentsh.session.format.facts import TurnEnded, TurnStarted


def write_turns(path: Path, name: str, turns: int, seed: int) -> int:
    """Write them; how often somebody else held the session."""
    chance = random.Random(seed)
    refused = number = 0
    while number < turns:
        try:
            session = open_session(path, write=True)
        except SessionLockedError:
            refused += 1
            time.sleep(chance.uniform(0, 0.003))
            continue
        with session:
            for _ in range(min(chance.randint(1, 20), turns - number)):
                number += 1
                _turn(session, name, number)
        time.sleep(chance.uniform(0, 0.003))
    return refused


def _turn(session: Session, name: str, number: int) -> None:
    start = session.append(TurnStarted(number))
    session.append(MessageBody(UserMessage((Text(f"{name} asks {number}"),), number)))
    session.barrier()
    answer = AssistantMessage(
        (Text(f"{name} is told {number}"),), "openai-completions", "p", "m", Usage(), "stop", number
    )
    session.append(MessageBody(answer))
    session.append(TurnEnded(start.id, "completed"))
    session.barrier()


if __name__ == "__main__":
    print(write_turns(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
