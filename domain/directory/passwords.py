"""What a password must be."""

from __future__ import annotations

from typing import Final

from domain.errors import Fault

LEAST: Final = 10
# What is hashed is bounded: nobody types more.
MOST: Final = 1024


def faults_of(password: str, user: str, where: str) -> list[Fault]:
    """All that is wrong with it. Length keeps it from being guessed; which characters it has is one's own."""
    faults = []
    if len(password) < LEAST:
        faults.append(Fault(where, f"has {len(password)} characters, at least {LEAST} are required"))
    if len(password) > MOST:
        faults.append(Fault(where, f"has {len(password)} characters, at most {MOST} are allowed"))
    if password.casefold() == user.casefold():
        faults.append(Fault(where, "is the user's name"))
    return faults
