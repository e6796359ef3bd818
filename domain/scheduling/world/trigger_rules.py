"""The rules that say which triggers an event raises: new sets, pending systems, wake-ups and others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from domain.events import Event
from domain.recipe_set.events import RecipeSetSubmitted
from domain.scheduling.world.affected_names import Happened, Names, own_name
from domain.scheduling.world.triggers import (
    ADMISSION,
    CLAIMS,
    LET_GO,
    LOCKS,
    NEW_JOB,
    PENDING_SYSTEM,
    QUIET,
    WAKE_UP,
)
from domain.scheduling.world.wake_ups import TriggerRule
from domain.system.events import SystemPending

if TYPE_CHECKING:
    from domain.scheduling.world.partition import Partition

TriggerKey = tuple[str, str]
"""The kind and the name of a trigger."""


class _Row(NamedTuple):
    """A kind of trigger that a class of events raises; the triggers are named by `prefix` and a name."""

    kind: str
    prefix: str
    names: Names


class TriggerRules:
    """The rules by class of event. Mutable: `is_new` records the triggers of the present commit."""

    def __init__(self, rules: Iterable[TriggerRule]) -> None:
        self._rows: dict[type[Event], tuple[_Row, ...]] = {
            SystemPending: (_Row(PENDING_SYSTEM, "", own_name),),
            RecipeSetSubmitted: (_Row(NEW_JOB, "", own_name),),
        }
        for rule in rules:
            rows = [_Row(kind, "", names) for kind, names in _quiet_names(rule) if names]
            rows += [_Row(WAKE_UP, f"{wakes.kind}/", wakes.names) for wakes in rule.all_wakes()]
            for event in rule.events:
                assert event not in self._rows, f"two rules for {event.__name__}"
                self._rows[event] = tuple(rows)
        self._commit_end = 0
        self._raised: dict[TriggerKey, None] = {}

    def may_raise(self, event: Event) -> bool:
        return type(event) in self._rows

    def triggers_of(self, happened: Happened, partition: Partition) -> Iterable[TriggerKey]:
        """Return the triggers of an event that the partition has applied, tentatively or from the log."""
        rows = self._rows.get(type(happened.event))
        if rows is None:
            return ()
        return [(kind, prefix + name) for kind, prefix, names in rows for name in names(happened, partition)]

    def is_new(self, commit_end: int, key: TriggerKey) -> bool:
        """Return whether to raise a trigger; False for a quiet one that this commit has raised already."""
        if commit_end != self._commit_end:
            self._commit_end = commit_end
            self._raised.clear()
        if key[0] in QUIET and key in self._raised:
            return False
        self._raised[key] = None
        return True


def _quiet_names(rule: TriggerRule) -> tuple[tuple[str, Names | None], ...]:
    """Return the kinds of quiet triggers, without wake-ups, with the functions that name them."""
    return (
        (ADMISSION, rule.may_end),
        (LOCKS, rule.may_lock),
        (LET_GO, rule.may_let_go),
        (CLAIMS, rule.all_claims()),
    )
