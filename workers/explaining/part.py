"""The process that explains: `python -m workers.explaining.part`, with the URL in its environment.

A question is a line of JSON, and so is its answer: `{"answer": …}`, or `{"refused": [error, message]}` with
the name of an error of ours. It ends with its standard input, or when nobody has asked for long.
"""

from __future__ import annotations

import os
import selectors
import sys
from typing import Any, BinaryIO

import orjson

from domain.errors import LabledgerError
from runtime.processes.garbage_collection import spare_what_lasts
from runtime.settings import variable
from workers.explaining.answers import ANSWERS
from workers.explaining.follower import Follower

# Whoever asks can wait; a grant cannot.
NICENESS = 5
# What it knows takes as much memory as a scheduler does.
IDLE_SECONDS = 600.0


def main() -> None:
    os.nice(NICENESS)
    spare_what_lasts()
    follower = Follower(os.environ[variable("database_url")])
    while line := _next_line(sys.stdin.buffer):
        answer = orjson.dumps(_answer(follower, orjson.loads(line)), option=orjson.OPT_UTC_Z)
        try:
            sys.stdout.buffer.write(answer + b"\n")
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            # Who asked is gone; what is left of the answer is not to be tried again at the end.
            os._exit(0)


def _next_line(source: BinaryIO) -> bytes:
    """Empty when there will be none. Nobody asks before the last answer was read, so nothing is buffered."""
    with selectors.DefaultSelector() as selector:
        selector.register(source, selectors.EVENT_READ)
        return source.readline() if selector.select(IDLE_SECONDS) else b""


def _answer(follower: Follower, question: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"answer": ANSWERS[question.pop("about")](follower, **question)}
    except LabledgerError as error:
        return {"refused": [type(error).__name__, str(error)]}


if __name__ == "__main__":
    main()
