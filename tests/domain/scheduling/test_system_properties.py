"""What requirements may ask of a system beside its inventory, as the log changes it."""

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
    """Of system a, by what the scheduler knows of it."""
    labs = world.partition.labs
    return bool(matching(from_text(host_requires), labs.columns) >> labs.number("a") & 1)


def fits(taking_jobs: Installable, news: Iterable[Recorded], host_requires: str) -> bool:
    """The same, as a process that takes jobs knows it."""
    for recorded in news:
        taking_jobs.apply(recorded)
    taking_jobs.catch_up()
    return bool(taking_jobs.fitting(host_requires, 0))


ROWS: list[tuple[str, Change, str, bool, bool]] = [
    # Name of the row, what happens, what is asked, and whether it holds before and after.
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
def test_system__changed__is_what_it_is_now(change: Change, required: str, before: bool, then: bool) -> None:
    world = World()
    world.add_lab("lab-1")
    world.add_lab("lab-2")
    world.add_system("a")
    world.settle()
    taking_jobs, known = Installable(world.directory), len(world.log)
    assert asked(world, required) is before
    assert fits(taking_jobs, world.log, required) is before
    change(world)
    assert asked(world, required) is then
    assert fits(taking_jobs, world.log[known:], required) is then


def test_borrower_and_person__gone__match_nothing_again() -> None:
    world = World()
    world.add_lab("lab-1")
    world.add_idle("a")
    lend(world, "a", "bob")
    reserve(world, "a", "bob")
    world.give_back("a")
    end_loan(world, "a")
    for element in ("system/loaned", "system/user"):
        assert not asked(world, text(element, "bob"))
        # Nobody has it, which is not somebody else.
        assert not asked(world, text(element, "bob", "!="))


def test_recipe__wants_an_owner__takes_the_idle_system_that_changes_hands() -> None:
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
