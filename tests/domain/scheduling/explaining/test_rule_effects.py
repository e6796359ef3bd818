"""The sets that a job filter would match, hold back or free, before it is put."""

from __future__ import annotations

from typing import Any

import pytest

from domain.admission.configuration import Configuration, LimitSection
from domain.admission.job_filters import JobFilter, stored_job_filter
from domain.scheduling.explaining.rule_effects import RuleEffect, configuration_effects, job_filter_effects
from tests.domain.scheduling.contents import check_indexes
from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.world import World

OF_ADA = {"predicate": {"field": "user", "op": "=", "value": "ada"}}
SCRUB = {"predicate": {"field": "task", "op": "=", "value": "/scrub"}}


def rule(action: str, watermark: int = 0, name: str = "new", **document: Any) -> JobFilter:
    limit = {"limit": 1} if action == "RATE_LIMIT" else {}
    return stored_job_filter(name, {"action": action, "watermark": watermark, **limit, **document})


def shown(effects: list[RuleEffect]) -> list[tuple[Any, ...]]:
    """Return for each effect the set, whether it matches, the applying filter, and both effects."""
    return [
        (
            effect.recipe_set.recipe_set_id,
            effect.matches,
            effect.applying,
            *(held and (held.effect.value, held.reason) for held in (effect.before, effect.after)),
        )
        for effect in effects
    ]


RUNNING, SCRUBBING, BOB, ADA = range(1, 5)
"""The sets: 1 holds the only system, the others wait for it."""


@pytest.fixture(autouse=True)
def _sets(world: World) -> None:
    world.add_idle("a")
    for owner, task in (("ada", "/t"), ("ada", "/scrub"), ("bob", "/t"), ("ada", "/t")):
        world.submit(named("a"), submitted={"owner": owner, "tasks": [task]})
        world.settle()


PAUSED = ("wait", 'paused by the job filter "new"')


@pytest.mark.parametrize(
    ("action", "after", "applying"),
    [
        ("PAUSE", PAUSED, "new"),
        ("REJECT", ("cancel", 'job filter "new"'), "new"),
        ("ACCEPT", None, "new"),
        ("CONTINUE", None, None),
    ],
)
def test_new_rule__of_each_action__matches_and_holds_back_what_holds_nothing(
    world: World, action: str, after: Any, applying: str | None
) -> None:
    effects = job_filter_effects(world.partition, rule(action, **OF_ADA))
    assert shown(effects) == [
        (RUNNING, True, applying, None, None),
        (SCRUBBING, True, applying, None, after),
        (ADA, True, applying, None, after),
    ]
    assert [effect.placed for effect in effects] == [True, False, False]


def test_new_rule__behind_another_that_applies__is_said(world: World) -> None:
    world.put_job_filter("scrub", "ACCEPT", **SCRUB)
    effects = job_filter_effects(world.partition, rule("PAUSE", 5, **OF_ADA))
    assert shown(effects)[1:] == [(SCRUBBING, True, "scrub", None, None), (ADA, True, "new", None, PAUSED)]
    # With a lower priority number it comes first.
    world.put_job_filter("scrub", "ACCEPT", **SCRUB, priority=1)
    effects = job_filter_effects(world.partition, rule("PAUSE", 5, **OF_ADA))
    assert shown(effects)[1] == (SCRUBBING, True, "new", None, PAUSED)


def test_changed_rule__no_longer_matches__frees_the_sets_of_before(world: World) -> None:
    world.put_job_filter("new", "PAUSE", **OF_ADA)
    world.settle()
    effects = job_filter_effects(world.partition, rule("PAUSE", **SCRUB))
    assert shown(effects) == [(SCRUBBING, True, "new", PAUSED, PAUSED), (ADA, False, None, PAUSED, None)]
    assert [(effect.is_held_back, effect.is_freed) for effect in effects] == [(False, False), (False, True)]


def test_changed_rule__rejects_what_it_paused__counts_as_held_back(world: World) -> None:
    world.put_job_filter("new", "PAUSE", **SCRUB)
    world.settle()
    (effect,) = job_filter_effects(world.partition, rule("REJECT", **SCRUB))
    assert (effect.is_held_back, effect.is_freed) == (True, False)


def test_changed_rule__no_longer_accepts__a_later_one_holds_back(world: World) -> None:
    world.put_job_filter("new", "ACCEPT", **OF_ADA)
    world.put_job_filter("later", "PAUSE", priority=1)
    world.settle()
    effects = job_filter_effects(world.partition, rule("ACCEPT", **SCRUB))
    later = ("wait", 'paused by the job filter "later"')
    assert shown(effects) == [(SCRUBBING, True, "new", None, None), (ADA, False, "later", None, later)]


def test_equal_rule__of_a_later_watermark__keeps_its_watermark_and_changes_nothing(world: World) -> None:
    new_jobs = {"predicate": {"field": "job_id", "op": ">", "value": "watermark"}}
    world.put_job_filter("new", "PAUSE", watermark=2, **new_jobs)
    world.settle()
    equal = job_filter_effects(world.partition, rule("PAUSE", 4, **new_jobs))
    assert shown(equal) == [(number, True, "new", PAUSED, PAUSED) for number in (BOB, ADA)]
    other = job_filter_effects(world.partition, rule("PAUSE", 4, **new_jobs, reason="night"))
    assert shown(other) == [(number, False, None, PAUSED, None) for number in (BOB, ADA)]


def test_rule_effects__afterwards__nothing_in_the_partition_has_changed(world: World) -> None:
    world.put_job_filter("scrub", "PAUSE", **SCRUB)
    world.settle()
    held_back = dict(world.partition.sets.admission.held_back)
    filters = world.partition.sets.admission.job_filters
    job_filter_effects(world.partition, rule("REJECT"))
    assert world.partition.sets.admission.held_back == held_back
    assert world.partition.sets.admission.job_filters is filters
    assert world.settle() == []
    check_indexes(world.partition)


NO_ROOM = "no room under a limit: "


def limited(world: World, placed_recipes: int | None) -> list[tuple[Any, ...]]:
    configuration = Configuration(limits=LimitSection(placed_recipes))
    return shown(configuration_effects(world.partition, configuration))


def test_configuration__lower_maximum__holds_back_what_holds_nothing(world: World) -> None:
    after = ("wait", f"{NO_ROOM}placed recipes (1)")
    assert limited(world, 1) == [(number, False, None, None, after) for number in (SCRUBBING, BOB, ADA)]
    assert limited(world, 2) == limited(world, None) == []


def test_configuration__raised_maximum__frees_sets_that_alone_have_room(world: World) -> None:
    world.configure(limits={"placed_recipes": 1})
    world.settle()
    before = ("wait", f"{NO_ROOM}placed recipes (1)")
    assert limited(world, 2) == [(number, False, None, before, None) for number in (SCRUBBING, BOB, ADA)]
    # The set would still wait, for a filter.
    world.put_job_filter("bob", "PAUSE", predicate={"field": "user", "op": "=", "value": "bob"})
    world.settle()
    assert [row[0] for row in limited(world, 2)] == [SCRUBBING, ADA]
    assert limited(world, 1) == []


def test_rate_limit__full_by_a_set_that_holds_a_system__others_have_no_room(world: World) -> None:
    effects = job_filter_effects(world.partition, rule("RATE_LIMIT", **OF_ADA))
    after = ("wait", f"{NO_ROOM}job filter new (1)")
    assert shown(effects) == [
        (RUNNING, True, "new", None, None),
        (SCRUBBING, True, "new", None, after),
        (ADA, True, "new", None, after),
    ]
    assert [(effect.is_held_back, effect.is_freed) for effect in effects] == [
        (False, False),
        (True, False),
        (True, False),
    ]
    roomy = job_filter_effects(world.partition, rule("RATE_LIMIT", **OF_ADA, limit=2))
    assert [effect.after for effect in roomy] == [None] * 3


def test_configuration__tested__nothing_in_the_partition_has_changed(world: World) -> None:
    limited(world, 0)
    assert world.settle() == []
    check_indexes(world.partition)
