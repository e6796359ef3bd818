"""Systems that the owner of a job may neither view nor submit to do not affect the texts for the owner."""

from __future__ import annotations

from typing import Any

import pytest

from domain.access.policy import Form
from domain.requirements.host import HOST
from domain.scheduling.explaining.waiting import Waiting, WaitingOptions, why_it_waits
from domain.scheduling.supply.reasons import NO_ACCESS, NO_IDLE_SYSTEM, NO_SYSTEM_MATCHES
from tests.domain.scheduling.host_requirements import ANYTHING
from tests.domain.scheduling.labs import occupy, one_lab
from tests.domain.scheduling.policies import group, user
from tests.domain.scheduling.world import VIEWED, World

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
