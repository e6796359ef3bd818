"""Properties of systems outside of the inventory that requirements may name, as the log changes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from domain.distro_choice.installable import Installable
from domain.events import Recorded
from domain.requirements import from_text, matching
from domain.requirements.host import HOST
from domain.system import events as system_events
from tests.domain.scheduling.labs import one_lab
from tests.domain.scheduling.world import World

Change = Callable[[World], None]


def text(element: str, value: str, op: str = "==") -> str:
    return HOST.examine({"element": element, "op": op, "value": value}).text


def lend(world: World, fqdn: str, user: str) -> None:
    world.commit([(f"system/{fqdn}", system_events.SystemLoaned(user=user, until=None))])


def end_loan(world: World, fqdn: str) -> None:
    world.commit([(f"system/{fqdn}", system_events.SystemLoanEnded(reason="returned"))])


def reserve(world: World, fqdn: str, user: str) -> None:
    world.set_condition(fqdn, "Manual")
    world.reserve(fqdn, user)


def asked(world: World, host_requires: str) -> bool:
    """Return whether system a fits, for the scheduler."""
    labs = world.partition.labs
    return bool(matching(from_text(host_requires), labs.columns) >> labs.number("a") & 1)


def fits(installable: Installable, news: Iterable[Recorded], host_requires: str) -> bool:
    """Return whether system a fits, for an API process."""
    for recorded in news:
        installable.apply(recorded)
    installable.catch_up()
    return bool(installable.fitting(host_requires, 0))


ROWS: list[tuple[str, Change, str, bool, bool]] = [
    # Name of the row, change, requirement, answers before and after.
    ("owner", lambda world: world.own("a", "Eve"), text("system/owner", "eve"), False, True),
    ("not its owner", lambda world: world.own("a", "eve"), text("system/owner", "ada", "!="), False, True),
    (
        "condition",
        lambda world: world.set_condition("a", "Broken"),
        text("system/status", "Broken"),
        False,
        True,
    ),
    ("lab controller", lambda world: world.move("a", "lab-2"), text("labcontroller", "lab-1"), True, False),
    ("borrower", lambda world: lend(world, "a", "bob"), text("system/loaned", "bob"), False, True),
    (
        "other borrower",
        lambda world: lend(world, "a", "bob"),
        text("system/loaned", "eve", "!="),
        False,
        True,
    ),
    ("person", lambda world: reserve(world, "a", "bob"), text("system/user", "bob"), False, True),
    ("other person", lambda world: reserve(world, "a", "bob"), text("system/user", "eve", "!="), False, True),
    ("power type", lambda world: world.describe("a", power_type="ipmi"), text("auto_prov", "1"), False, True),
]


@pytest.mark.parametrize(
    ("change", "required", "before", "then"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_requirement__system_changed__new_answer(
    change: Change, required: str, before: bool, then: bool
) -> None:
    world = World()
    world.add_lab("lab-1")
    world.add_lab("lab-2")
    world.add_system("a")
    world.settle()
    installable, index = Installable(world.directory), len(world.log)
    assert asked(world, required) is before
    assert fits(installable, world.log, required) is before
    change(world)
    assert asked(world, required) is then
    assert fits(installable, world.log[index:], required) is then


def test_requirement__loan_and_reservation_over__match_nothing() -> None:
    world = World()
    world.add_lab("lab-1")
    world.add_idle("a")
    lend(world, "a", "bob")
    reserve(world, "a", "bob")
    world.give_back("a")
    end_loan(world, "a")
    for element in ("system/loaned", "system/user"):
        assert not asked(world, text(element, "bob"))
        # Without a user, `!=` is not true either.
        assert not asked(world, text(element, "bob", "!="))


def test_recipe__requires_an_owner__takes_idle_system_with_new_owner() -> None:
    world = one_lab()
    world.add_idle("a")
    world.add_system("b", condition="Broken")
    world.own("b", "eve")
    recipe_id = world.submit(text("system/owner", "eve"))
    world.settle()
    assert world.states(recipe_id) == ["queued"]
    world.own("a", "eve")
    world.settle()
    assert world.system_of(recipe_id) == "a"
