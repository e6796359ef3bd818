"""The rules for a new password."""

from __future__ import annotations

from typing import Final

from domain.errors import Fault

MIN_LENGTH: Final = 10
# Bounds the cost of hashing.
MAX_LENGTH: Final = 1024


def faults_of(password: str, user: str, where: str) -> list[Fault]:
    """Return all faults of a new password. Any characters are allowed, because the length protects it."""
    faults = []
    length = "1 character" if len(password) == 1 else f"{len(password)} characters"
    if len(password) < MIN_LENGTH:
        faults.append(Fault(where, f"has {length}, at least {MIN_LENGTH} are required"))
    if len(password) > MAX_LENGTH:
        faults.append(Fault(where, f"has {length}, at most {MAX_LENGTH} are allowed"))
    if password.casefold() == user.casefold():
        faults.append(Fault(where, "must not be the user's name"))
    return faults
