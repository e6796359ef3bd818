"""The table of trigger rules without some of its wake-ups or let-go triggers."""

from __future__ import annotations

from collections.abc import Collection

from domain.scheduling.world.wake_ups import TRIGGER_RULES, TriggerRule

WAKING = frozenset(rule.name for rule in TRIGGER_RULES if rule.wakes)
LETTING_GO = frozenset(rule.name for rule in TRIGGER_RULES if rule.may_let_go)


def rules(wakes: Collection[str] = WAKING, lets_go: Collection[str] = LETTING_GO) -> tuple[TriggerRule, ...]:
    """Return the table with the wake-ups and let-go triggers of these rules only."""
    return tuple(
        rule._replace(
            wakes=rule.wakes if rule.name in wakes else (),
            may_let_go=rule.may_let_go if rule.name in lets_go else None,
        )
        for rule in TRIGGER_RULES
    )
