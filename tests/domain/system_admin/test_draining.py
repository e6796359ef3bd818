"""A draining system finishes its recipe and accepts no new one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from domain.events import Event
from domain.recipe_set.ending import cancel_set
from domain.system.events import SystemDrained, SystemIdle, SystemPending, SystemUndrained
from domain.system.lifecycle import WITH_RECIPE
from domain.system.state import evolve
from domain.system.usage import in_idle_pool, is_open
from domain.system_admin.draining import drain, undrain
from tests.domain.recipe.samples import moment, system_in
from tests.domain.recipe_set.samples import set_of

DRAINED, UNDRAINED = SystemDrained(reason="new disks"), SystemUndrained()
BUSY: list[tuple[str, list[Event]]] = [(usage, []) for usage in WITH_RECIPE]


# A pending system becomes idle; a busy one keeps its recipe.
@pytest.mark.parametrize(("usage", "then"), [("idle", []), ("pending", [SystemIdle()]), *BUSY])
def test_drain__any_usage__is_recorded(usage: str, then: list[Event]) -> None:
    assert [event for _, event in drain(system_in(usage), "new disks")] == [DRAINED, *then]


# A free Automated system becomes pending. For other conditions a wake-up asks the recipes that force it.
@pytest.mark.parametrize(
    ("usage", "condition", "then"),
    [
        ("idle", "Automated", [SystemPending()]),
        ("idle", "Manual", []),
        ("idle", "Broken", []),
        *((usage, "Automated", then) for usage, then in BUSY),
    ],
)
def test_undrain__any_usage__asks_the_queue_if_it_is_free(
    usage: str, condition: str, then: list[Event]
) -> None:
    draining = replace(system_in(usage, condition), draining=True)
    assert [event for _, event in undrain(draining)] == [UNDRAINED, *then]


def test_drain__repeated__changes_nothing() -> None:
    assert drain(evolve(system_in("idle"), "a", DRAINED, moment()), "once more") == []
    assert undrain(system_in("idle")) == []


def test_draining__freed_meanwhile__idle_and_unusable() -> None:
    system = evolve(system_in("running"), "a", DRAINED, moment())
    assert not is_open(system, lab_enabled=True)
    assert not in_idle_pool(replace(system, usage="idle"), lab_enabled=True)
    members = replace(set_of("running"), systems={"a": system})
    assert cancel_set(members, "not needed")[-1] == ("system/a", SystemIdle())
    assert is_open(evolve(system, "a", UNDRAINED, moment()), lab_enabled=True)
