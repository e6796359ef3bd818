"""The form and use of the rules that say which triggers an event raises: wake-ups and others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from domain.events import Event
from domain.recipe_set.events import RecipeSetSubmitted
from domain.scheduling.world import affected_claims as claims
from domain.scheduling.world import affected_names as affected
from domain.scheduling.world.affected_names import Happened, Names
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
from domain.system.events import SystemPending

if TYPE_CHECKING:
    from domain.scheduling.world.partition import Partition

TriggerKey = tuple[str, str]
"""The kind and the name of a trigger."""

LAB = "lab-controller"


class Wakes(NamedTuple):
    """The subjects of wake-ups: those of one kind with these names."""

    kind: str
    names: Names


def wakes_labs(names: Names) -> tuple[Wakes, ...]:
    """Return the wake-ups of all systems of the labs with these names."""
    return (Wakes(LAB, names),)


# A let-go trigger wakes the partition, too, if room may be kept.
WAKES_FOR_KEPT_ROOM = Wakes("partition", affected.partition_if_room_is_kept)


class TriggerRule(NamedTuple):
    """Events with the same triggers; `story` is the case for the rule.

    `may_end` returns the names of admission triggers, `may_lock` those of locks triggers, `may_claim` those
    of claims triggers.
    """

    name: str
    events: tuple[type[Event], ...]
    wakes: tuple[Wakes, ...]
    may_let_go: Names | None
    story: str
    may_end: Names | None = None
    may_lock: Names | None = None
    may_claim: Names | None = None

    def all_claims(self) -> Names | None:
        """Return the names of claims triggers.

        Where a system or lab changes, so that recipes may have systems or lose them, these are the labs of
        the other triggers.
        """
        labs = [wakes.names for wakes in self.wakes if wakes.kind == LAB]
        labs += [self.may_let_go] if self.may_let_go else []
        if self.events[0].TOPIC.startswith("system") and labs:
            return claims.system_with_claims
        is_about_recipes = self.events[0].TOPIC.startswith("recipe")
        if self.may_claim or is_about_recipes or not labs:
            return self.may_claim
        return claims.labs_with_claims(*labs)

    def all_wakes(self) -> tuple[Wakes, ...]:
        """Return the wake-ups; a rule with let-go triggers also wakes the partition if room may be kept."""
        return (*self.wakes, WAKES_FOR_KEPT_ROOM) if self.may_let_go else self.wakes


class _Row(NamedTuple):
    """A kind of trigger that a class of events raises; the triggers are named by `prefix` and a name."""

    kind: str
    prefix: str
    names: Names


class TriggerRules:
    """The rules by class of event. Mutable: `is_new` records the triggers of the present commit."""

    def __init__(self, rules: Iterable[TriggerRule]) -> None:
        self._rows: dict[type[Event], tuple[_Row, ...]] = {
            SystemPending: (_Row(PENDING_SYSTEM, "", affected.own_name),),
            RecipeSetSubmitted: (_Row(NEW_JOB, "", affected.own_name),),
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
