"""Errors of Labledger, whose docstrings are titles for users, and the words for names in messages."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, order=True)
class Fault:
    """One error in an input: its location, and a message."""

    where: str
    message: str


class LabledgerError(Exception):
    """The operation failed."""

    @property
    def title(self) -> str:
        return (type(self).__doc__ or "").splitlines()[0].rstrip(".")


class FaultyInput(LabledgerError):
    """Invalid input."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(f"{fault.where}: {fault.message}" for fault in self.faults))


class Unreadable(FaultyInput):
    """Malformed input."""


class TooLarge(Unreadable):
    """Too large for one request."""


class InvalidJob(FaultyInput):
    """Invalid job."""


class Refused(LabledgerError):
    """Conflict with the current state."""


class Stale(LabledgerError):
    """Version mismatch."""


class Unknown(LabledgerError):
    """Unknown name or id; the title of this error names the thing that does not exist."""

    def __init__(self, thing: str, why: str = "") -> None:
        self._thing = thing
        # The title names the thing, so a detail beside the title does not repeat it.
        self.detail = why or thing
        super().__init__(f"{thing}: {why}" if why else thing)

    @property
    def title(self) -> str:
        """`Job 3000 not found`"""
        return f"{self._thing[:1].upper()}{self._thing[1:]} not found"

    @property
    def sentence(self) -> str:
        """`there is no job 3000`"""
        return f"there is no {self}"


class NotPermitted(LabledgerError):
    """Permission denied."""


class NotRecognised(LabledgerError):
    """Wrong user name or password."""


class TooOften(LabledgerError):
    """Too many requests."""

    def __init__(self, message: str, retry_after_seconds: float) -> None:
        # Whole seconds, because `Retry-After` has no fractions.
        self.retry_after_seconds = max(1, math.ceil(retry_after_seconds))
        super().__init__(message)


# The maximum number of names in a message.
MAX_NAMED: Final = 10

WORDS: Final = {
    "user": "user",
    "group": "group",
    "pool": "pool",
    "system": "system",
    "lab-controller": "lab controller",
    "distro-tree": "distro tree",
    "arch": "architecture",
    "key": "key",
    "power-type": "power type",
    "token": "token",
    "partition": "partition",
    "maintenance-window": "maintenance window",
    "queue": "queue",
    "job-filter": "job filter",
    "job": "job",
    "recipe-set": "recipe set",
    "recipe": "recipe",
}
"""The words for each kind in messages."""


def display_name(kind: str, name: str | int) -> str:
    """Return `recipe set 23` for the kind `recipe-set` and the name 23."""
    return f"{WORDS[kind]} {name}"


def display_subject(subject: str) -> str:
    """Return `recipe set 23` for the subject `recipe-set/23`; an unknown kind is shown as it is."""
    kind, _, name = subject.partition("/")
    return f"{WORDS.get(kind, kind)} {name}"


def listed(names: Sequence[str], max_named: int = MAX_NAMED, between: str = ", ") -> str:
    """Return the first names and the number of the others; advice may follow them in a message."""
    more = len(names) - max_named
    return between.join(names[:max_named]) + (f" and {more} more" if more > 0 else "")


def unknown_name(kind: str, name: str | int) -> str:
    """Return the message for a name that does not exist, such as `there is no pool "smal"`."""
    return f"there is no {WORDS[kind]} " + (f'"{name}"' if isinstance(name, str) else str(name))
