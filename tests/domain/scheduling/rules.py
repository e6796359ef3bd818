"""The table of trigger rules without some of its wake-ups, let-go, locks or admission triggers."""

from __future__ import annotations

from collections.abc import Collection

from domain.scheduling.world.trigger_rules import TriggerRule
from domain.scheduling.world.wake_ups import TRIGGER_RULES

WAKING = frozenset(rule.name for rule in TRIGGER_RULES if rule.wakes)
LETTING_GO = frozenset(rule.name for rule in TRIGGER_RULES if rule.may_let_go)
LOCKING = frozenset(rule.name for rule in TRIGGER_RULES if rule.may_lock)
ENDING = frozenset(rule.name for rule in TRIGGER_RULES if rule.may_end)


def rules(
    wakes: Collection[str] = WAKING,
    lets_go: Collection[str] = LETTING_GO,
    locks: Collection[str] = LOCKING,
    ends: Collection[str] = ENDING,
) -> tuple[TriggerRule, ...]:
    """Return the table with the wake-ups, let-go, locks and admission triggers of these rules only."""
    return tuple(
        rule._replace(
            wakes=rule.wakes if rule.name in wakes else (),
            may_let_go=rule.may_let_go if rule.name in lets_go else None,
            may_end=rule.may_end if rule.name in ends else None,
            may_lock=rule.may_lock if rule.name in locks else None,
        )
        for rule in TRIGGER_RULES
    )
