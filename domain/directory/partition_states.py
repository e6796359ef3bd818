"""The states of a partition, and the moves between them (design 6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from domain.directory.events import PartitionStateChanged
from domain.errors import Refused
from domain.events import Event
from domain.intake_states import ACTIVE, DRAINING, STATES, STOPPED
from domain.partition_numbers import DEFAULT_PARTITION

START, DRAIN, STOP = "start", "drain", "stop"

_MOVES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    START: (ACTIVE, STATES),
    DRAIN: (DRAINING, (ACTIVE,)),
    STOP: (STOPPED, (ACTIVE,)),
}
"""Move -> the state that it leads to, and the states from which it may be made."""


def state_of(document: Mapping[str, Any]) -> str:
    """Return the state in the document of a partition; without any event it is active."""
    state: str = document.get("state", ACTIVE)
    return state


def move(document: Mapping[str, Any], name: str, reason: str | None = None) -> list[Event]:
    """Return the event of a move, none if the partition has its state; raise Refused for a forbidden one."""
    before, (after, allowed) = state_of(document), _MOVES[name]
    if before == after:
        return []
    if before not in allowed:
        states = " or ".join(allowed)
        raise Refused(f"the partition is {before}; only one that is {states} can {name}, so start it first")
    return [PartitionStateChanged(after, reason=reason)]


def require_removable(document: Mapping[str, Any], name: str) -> None:
    """Raise Refused for `default`, and for a partition that may take jobs."""
    if name == DEFAULT_PARTITION.name:
        raise Refused(f"partition {name} cannot be removed")
    if state_of(document) == ACTIVE:
        raise Refused(f"partition {name} is active; drain or stop it before you remove it")


def require_takes_jobs(document: Mapping[str, Any], name: str) -> None:
    """Raise Refused unless a partition takes new jobs."""
    state = state_of(document)
    if state != ACTIVE:
        raise Refused(f"the partition {name} is {state} and takes no new jobs; what it has goes on")
