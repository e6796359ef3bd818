"""Properties of systems that decide who gets them, and hidden systems."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from domain.access.policy import Form
from domain.distro_choice.installable import Installable
from domain.events import Recorded
from domain.requirements import from_text, matching
from domain.requirements.host import HOST
from domain.scheduling.explaining.waiting import Waiting, WaitingOptions, why_it_waits
from domain.scheduling.supply.reasons import NO_ACCESS, NO_IDLE_SYSTEM, NO_SYSTEM_MATCHES
from domain.system import events as system_events
from tests.domain.scheduling.host_requirements import ANYTHING
from tests.domain.scheduling.labs import occupy, one_lab
from tests.domain.scheduling.policies import group, user
from tests.domain.scheduling.world import VIEWED, World

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


# Requirements, of every kind, for properties that only the hidden system has.
ASKED: dict[str, Any] = {
    "forced": {"force": "secret"},
    "by name": {"element": "hostname", "op": "==", "value": "secret"},
    "by pool": {"element": "pool", "op": "==", "value": "vault"},
    "by key": {"element": "key_value", "key": "SECRET", "op": "==", "value": "1"},
    "by another value of its key": {"element": "key_value", "key": "SECRET", "op": "==", "value": "2"},
    "by architecture": {"element": "arch", "op": "==", "value": "riscv64"},
    "by power type": {"element": "system/powertype", "op": "==", "value": "lever"},
    "by memory": {"element": "memory", "op": ">=", "value": 99_999},
}
SECRET: dict[str, Any] = {
    "arches": ["x86_64", "riscv64"],
    "key_values": {"SECRET": ["1"]},
    "power_type": "lever",
    "memory_mb": 100_000,
}


def lab(*, has_secret: bool, entries: tuple[Form, ...] = ()) -> World:
    """Return a lab with or without a secret system; this owner must not see a difference."""
    world = one_lab()
    world.put_group("qe", "carol")
    world.add_idle("a")
    world.open_pool("vault")
    if has_secret:
        world.add_system("secret", condition="Manual", **SECRET)
        world.set_pool("vault", "secret", member=True)
        world.hide_system("secret", *entries)
    return world


def asks(world: World, form: Any, owner: str = "eve") -> tuple[str, str]:
    """Submit a recipe; return its state and the reason."""
    recipe_id = world.submit(HOST.examine(form).text, owner=owner)
    world.settle()
    last = [row.event for row in world.log if row.subject == f"recipe/{recipe_id}"][-1]
    return world.states(recipe_id)[0], str(getattr(last, "reason", ""))


@pytest.mark.parametrize("form", ASKED.values(), ids=ASKED)
def test_reason__hidden_system_fits__same_as_without_it(form: Any) -> None:
    texts = asks(lab(has_secret=True), form)
    assert texts == asks(lab(has_secret=False), form)
    assert texts[0] == "aborted" and texts[1].startswith(NO_SYSTEM_MATCHES)
    # An owner who may view the system gets the true reason.
    viewed = lab(has_secret=True, entries=(VIEWED,))
    others = ("by another value of its key",)
    if form not in [ASKED[other] for other in others]:
        assert asks(viewed, form) == ("aborted", NO_ACCESS)


def test_reason__access_by_group__names_the_system(world: World) -> None:
    hidden = lab(has_secret=True, entries=(group("qe"),))
    assert asks(hidden, ASKED["by memory"], "carol") == ("aborted", NO_ACCESS)
    assert asks(hidden, ASKED["by memory"], "eve")[1].startswith(NO_SYSTEM_MATCHES)
    allowed = lab(has_secret=True, entries=(user("eve"),))
    assert asks(allowed, ASKED["by memory"])[0] == "queued"


def test_reason__hidden_system_is_idle__not_mentioned(world: World) -> None:
    world.add_idle("a", "b")
    occupy(world, "a")
    world.hide_system("b", user("bob"))
    assert asks(world, {"and": []}) == ("queued", NO_IDLE_SYSTEM)


def test_reason__hidden_meanwhile_or_no_more__follows(world: World) -> None:
    world = lab(has_secret=True)
    for entries, expected in (((VIEWED,), NO_ACCESS), ((), NO_SYSTEM_MATCHES)):
        world.hide_system("secret", *entries)
        assert asks(world, ASKED["by memory"])[1].startswith(expected)


def explained(world: World, recipe_id: int, *unknown: str) -> Waiting:
    hidden = frozenset(unknown)
    return why_it_waits(
        world.partition, world.partition.sets.recipes[recipe_id], WaitingOptions(100, None, hidden, hidden)
    )


def test_explanation__unknown_system__is_in_no_count() -> None:
    texts = []
    for has_secret in (True, False):
        world = lab(has_secret=has_secret)
        occupy(world, "a")
        recipe_id = world.submit(ANYTHING.text, owner="eve")
        world.settle()
        texts.append(explained(world, recipe_id, *(["secret"] if has_secret else [])))
    with_secret, without = texts
    assert (with_secret.summary, with_secret.rules) == (without.summary, without.rules)
    assert with_secret.counted == without.counted and without.counted.registered == 1
