"""Errors of Labledger. The docstring of an error class is its title for users, the message tells the case."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


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
        super().__init__(f"{thing}: {why}" if why else thing)

    @property
    def title(self) -> str:
        """`Job 3000 not found`"""
        return f"{self._thing[:1].upper()}{self._thing[1:]} not found"


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
