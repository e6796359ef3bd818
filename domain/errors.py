"""Everything Labledger refuses or fails at, as one shallow tree.

The docstring of an error is the title a person reads; what is particular to the case is its message.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Fault:
    """One thing that is wrong with an input: the place a person can go to, and what is wrong there."""

    where: str
    message: str


class LabledgerError(Exception):
    """Labledger could not do this."""

    @property
    def title(self) -> str:
        return (type(self).__doc__ or "").splitlines()[0].rstrip(".")


class FaultyInput(LabledgerError):
    """The input is wrong."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(f"{fault.where}: {fault.message}" for fault in self.faults))


class Unreadable(FaultyInput):
    """The input cannot be read."""


class Refused(LabledgerError):
    """This conflicts with what is true now."""


class Stale(LabledgerError):
    """It has changed meanwhile."""


class Unknown(LabledgerError):
    """There is no such thing."""


class NotPermitted(LabledgerError):
    """You may not do this."""


class NotRecognised(LabledgerError):
    """The user or the password is wrong."""


class TooOften(LabledgerError):
    """This was tried too often."""

    def __init__(self, message: str, retry_after_seconds: float) -> None:
        # Whole seconds, because `Retry-After` has no fractions.
        self.retry_after_seconds = max(1, math.ceil(retry_after_seconds))
        super().__init__(message)
