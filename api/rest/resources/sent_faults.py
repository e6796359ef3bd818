"""Locations of faults in the part that a request has sent, from a body which the service made of it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from domain.errors import Fault

# A location begins with the line in the body, which the sender has not seen.
_LINE: Final = re.compile(r"line \d+, column \d+(: )?")


def sent_faults(faults: Iterable[Fault], where: str, whole: str, prefix: str = "") -> list[Fault]:
    """Return faults of a body with their paths in the sent part, which the body has at the path `where`.

    `prefix` comes before each path. A fault of the whole part is at `whole`.
    """
    return [_sent_fault(fault, where, whole, prefix) for fault in faults]


def _sent_fault(fault: Fault, where: str, whole: str, prefix: str) -> Fault:
    path = _LINE.sub("", fault.where)
    if path.startswith(where):
        path = path.removeprefix(where).removeprefix(".")
    return Fault(f"{prefix}{path}" if path else whole, fault.message)
