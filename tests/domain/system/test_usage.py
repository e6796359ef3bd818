"""Usability of systems, the event of a freed system, and the same as bitmaps of many systems."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.scheduling.bitsets.bitmaps import numbers_in
from domain.scheduling.supply.availability import Availability
from domain.scheduling.supply.labs import Labs
from domain.system.events import SystemIdle, SystemPending
from domain.system.lifecycle import CONDITIONS, USAGE
from domain.system.state import Reservation, System
from domain.system.usage import freed, in_idle_pool, is_open, is_usable
from tests.domain.recipe.samples import system_in


def system(condition: str, draining: bool = False, reserved: bool = False, usage: str = "idle") -> System:
    reservation = Reservation("ada", None, None) if reserved else None
    return replace(system_in(usage, condition), draining=draining, reservation=reservation)


EVERY = list(product(CONDITIONS, (False, True), (False, True), (False, True)))


@pytest.mark.parametrize(("condition", "draining", "reserved", "lab_enabled"), EVERY)
def test_usable__any_system__only_without_an_obstacle(
    condition: str, draining: bool, reserved: bool, lab_enabled: bool
) -> None:
    one = system(condition, draining, reserved)
    to_be_had = lab_enabled and not draining and not reserved
    assert is_open(one, lab_enabled) == (to_be_had and condition != "Removed")
    assert is_usable(one, lab_enabled) == (to_be_had and condition == "Automated")
    assert in_idle_pool(one, lab_enabled) == is_usable(one, lab_enabled)
    assert not in_idle_pool(replace(one, usage="running"), lab_enabled)


@pytest.mark.parametrize("draining", [False, True])
@pytest.mark.parametrize("condition", CONDITIONS)
def test_freed__any_system__pending_if_recipes_may_have_it(condition: str, draining: bool) -> None:
    asked = condition == "Automated" and not draining
    assert freed(system(condition, draining)) == ("system/a", SystemPending() if asked else SystemIdle())


labs = st.sampled_from(("lab-1", "lab-2"))
some_system = st.builds(
    lambda condition, draining, reserved, usage, lab, fqdn: replace(
        system(condition, draining, reserved, usage), fqdn=fqdn, lab_controller=lab
    ),
    st.sampled_from(CONDITIONS),
    st.booleans(),
    st.booleans(),
    st.sampled_from(USAGE.states),
    labs,
    st.sampled_from("abcd"),
)


@given(st.lists(st.one_of(some_system, st.tuples(labs, st.booleans())), max_size=30))
def test_availability__any_changes__equals_state_of_each_system(
    changes: list[System | tuple[str, bool]],
) -> None:
    lab = Labs()
    available = Availability(lab)
    systems: dict[str, System] = {}
    enabled: dict[str, bool] = {}
    for change in changes:
        if isinstance(change, System):
            systems[change.fqdn] = change
            lab.put(change, ())
            available.put(change)
        else:
            enabled[change[0]] = change[1]
            available.serve(*change)
        for forced, may_have in ((False, is_usable), (True, is_open)):
            usable = {
                n for n, each in systems.items() if may_have(each, enabled.get(each.lab_controller, False))
            }
            idle = {fqdn for fqdn in usable if systems[fqdn].usage == "idle"}
            assert {lab.names[number] for number in numbers_in(available.usable(forced=forced))} == usable
            assert {lab.names[number] for number in numbers_in(available.idle(forced=forced))} == idle
