"""What a process that folds a part of the log says to the one that started it."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import IO, NamedTuple

from postgres.binary_copy import Copied


class Reached(NamedTuple):
    """All of its part up to there is folded; so many rows are kept in memory."""

    position: int
    kept: int


class Failed(NamedTuple):
    """It cannot go on, because the database is away or for another reason."""

    why: str
    is_away: bool


class Done(NamedTuple):
    """It has said all."""


Message = Copied | Reached | Failed | Done


def say(message: Message, out: IO[bytes]) -> None:
    pickle.dump(message, out, pickle.HIGHEST_PROTOCOL)
    if not isinstance(message, Copied):
        out.flush()


def said(of: IO[bytes]) -> Iterator[Message]:
    """Up to the last, or to where it was ended."""
    try:
        while True:
            yield pickle.load(of)
    except (EOFError, pickle.UnpicklingError):
        return
