"""Rate limits, the maximum of placed recipes, and the order in which sets get the room under them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from domain.admission.job_filters import ACCEPT, CONTINUE, RATE_LIMITED
from domain.scheduling.admitting.admission import Admission
from domain.scheduling.decisions.timers import Findings, LoopInput, correct
from domain.scheduling.explaining.waiting import WaitingOptions, why_it_waits
from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.labs import finish, one_lab
from tests.domain.scheduling.policies import user
from tests.domain.scheduling.rules import rules
from tests.domain.scheduling.world import World

K_TICKS = timedelta(minutes=15)
NAMES = "abcdefgh"


@pytest.fixture
def lab(world: World) -> World:
    world.add_idle(*NAMES)
    return world


def limit_all(lab: World, limit: int, **rule: Any) -> None:
    lab.put_job_filter("few", RATE_LIMITED, 0, limit=limit, **rule)


def limit_placed(lab: World, limit: int | None) -> None:
    lab.configure(limits={"placed_recipes": limit})


def begin(lab: World, fqdn: str, reasons: tuple[str, ...] = (), **new: Any) -> int:
    recipe_id = lab.submit(named(*fqdn), submitted={"reasons": list(reasons)}, **new)
    lab.settle()
    return recipe_id


def reasons_of(lab: World, recipe_id: int) -> list[str]:
    subject = f"recipe/{recipe_id}"
    return [
        each.event.reason for each in lab.log if each.subject == subject and hasattr(each.event, "reason")
    ]


# What counts


def test_rate_limit__as_many_sets_as_it_allows__the_next_is_queued_until_one_ends(lab: World) -> None:
    limit_all(lab, 2)
    first, second, third = (begin(lab, fqdn) for fqdn in "abc")
    assert lab.states(first, second, third) == ["waiting", "waiting", "queued"]
    assert reasons_of(lab, third) == ["no room under a limit: job filter few (2)"]
    finish(lab, first)
    assert lab.states(third) == ["waiting"]


def test_rate_limit__other_owner__is_not_counted(lab: World) -> None:
    limit_all(lab, 1, predicate={"field": "user", "op": "=", "value": "ada"})
    assert lab.states(begin(lab, "a", owner="ada"), begin(lab, "b", owner="eve")) == ["waiting", "waiting"]


@pytest.mark.parametrize(("action", "state"), [(ACCEPT, "waiting"), (CONTINUE, "queued")])
def test_rate_limit__rule_before_it__only_continue_looks_further(lab: World, action: str, state: str) -> None:
    lab.put_job_filter("first", action, 0, priority=0)
    limit_all(lab, 1, priority=1)
    begin(lab, "a")
    assert lab.states(begin(lab, "b")) == [state]


def test_bucket__one_label_and_two_limits__are_two_buckets(lab: World) -> None:
    one, other = ("rate-limit:1:array",), ("rate-limit:2:array",)
    made = [
        begin(lab, fqdn, reasons)
        for fqdn, reasons in zip("abcde", (one, one, other, other, other), strict=True)
    ]
    assert lab.states(*made) == ["waiting", "queued", "waiting", "waiting", "queued"]


def test_bucket__set_with_two_reasons__takes_a_place_in_each(lab: World) -> None:
    begin(lab, "a", ("rate-limit:1:x", "rate-limit:1:y", "a note"))
    assert (
        lab.states(begin(lab, "b", ("rate-limit:1:x",)), begin(lab, "c", ("rate-limit:1:y",)))
        == ["queued"] * 2
    )


def test_placed__set_with_a_guest__only_hosts_count(lab: World) -> None:
    limit_placed(lab, 3)
    lab.submit_set([named("a"), named("b")], guests={0: [1]})
    lab.settle()
    assert lab.states(begin(lab, "c"), begin(lab, "d")) == ["waiting", "queued"]


def test_placed__set_of_two__is_charged_until_its_last_recipe_ends(lab: World) -> None:
    limit_placed(lab, 2)
    first, second = lab.submit_set([named("a"), named("b")])
    lab.settle()
    third = begin(lab, "c")
    finish(lab, first)
    assert lab.states(third) == ["queued"]
    finish(lab, second)
    assert lab.states(third) == ["waiting"]


def test_placed__holder_that_lets_its_only_system_go__is_no_longer_charged(lab: World) -> None:
    limit_placed(lab, 2)
    lab.enable("lab-1", True)
    runs = begin(lab, "h")
    limit_placed(lab, 3)
    lab.submit_set([named("a"), named("h")])
    lab.settle()
    other = begin(lab, "c")
    assert lab.states(other) == ["queued"]
    lab.set_condition("a", "Broken")
    lab.settle()
    assert lab.states(other, runs) == ["waiting", "waiting"]


def test_bucket__many_labels_come_and_go__leave_no_lines(lab: World) -> None:
    begin(lab, "a")
    before = set(lab.partition.filters._lines)
    for number in range(20):
        waiting = begin(lab, "a", (f"rate-limit:1:label{number}",))
        assert lab.states(waiting) == ["queued"]
        assert len(lab.partition.filters._lines) == len(before) + 1
        lab.cancel(waiting)
        lab.settle()
    assert set(lab.partition.filters._lines) == before


# Rules and limits come, change and go


def test_limit__comes_later_and_is_exceeded__ends_nothing_and_adds_nothing(lab: World) -> None:
    running = [begin(lab, fqdn) for fqdn in "abc"]
    limit_all(lab, 2)
    lab.settle()
    fourth = begin(lab, "d")
    finish(lab, running[0])
    assert lab.states(*running[1:], fourth) == ["waiting", "waiting", "queued"]
    finish(lab, running[1])
    assert lab.states(fourth) == ["waiting"]


@pytest.mark.parametrize("change", [lambda lab: limit_all(lab, 2), lambda lab: lab.remove_job_filter("few")])
def test_limit__raised_or_removed__frees_the_next(lab: World, change: Callable[[World], None]) -> None:
    limit_all(lab, 1)
    _, second = begin(lab, "a"), begin(lab, "b")
    change(lab)
    lab.settle()
    assert lab.states(second) == ["waiting"]


def test_limit__of_placed_recipes_raised__frees_the_next(lab: World) -> None:
    limit_placed(lab, 1)
    _, second = begin(lab, "a"), begin(lab, "b")
    limit_placed(lab, 2)
    lab.settle()
    assert lab.states(second) == ["waiting"]


def test_limit__of_placed_recipes_changed__asks_no_set_again(
    lab: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit_placed(lab, 1)
    recipes = [begin(lab, fqdn) for fqdn in "abc"]
    asked: list[object] = []
    monkeypatch.setattr(Admission, "applying", lambda _, recipe_set: asked.append(recipe_set))
    limit_placed(lab, 2)
    lab.settle()
    assert lab.states(*recipes) == ["waiting", "waiting", "queued"]
    assert asked == []
    limit_placed(lab, None)
    assert asked, "without a maximum every set is in another class"


@pytest.mark.parametrize("owners", [("ada", "eve"), ("eve", "ada")])
def test_limit__of_one_user_moves_to_another__counts_only_the_sets_of_that_user(
    lab: World, owners: tuple[str, str]
) -> None:
    """One class loses its only set and gains one in the same event, in both orders of the sets."""
    limit_all(lab, 1, predicate={"field": "user", "op": "=", "value": "ada"})
    made = {owner: begin(lab, fqdn, owner=owner) for owner, fqdn in zip(owners, "ab", strict=True)}
    limit_all(lab, 1, predicate={"field": "user", "op": "=", "value": "eve"})
    lab.settle()
    waiting = begin(lab, "c", owner="eve")
    assert lab.states(begin(lab, "d", owner="ada"), waiting) == ["waiting", "queued"]
    finish(lab, made["eve"])
    assert lab.states(waiting) == ["waiting"]


def test_limit__raised_for_several_systems__each_takes_its_first_recipe(lab: World) -> None:
    limit_placed(lab, 1)
    recipes = [begin(lab, fqdn) for fqdn in "abcd"]
    alike = [begin(lab, NAMES) for _ in range(3)]
    limit_placed(lab, 5)
    lab.settle()
    assert lab.states(*recipes, *alike) == ["waiting"] * 5 + ["queued"] * 2


def test_limit__raised_by_one_for_systems_of_two_access_classes__one_recipe_starts(lab: World) -> None:
    limit_placed(lab, 1)
    lab.open_system("c", user("ada", "High"))
    recipes = [begin(lab, fqdn) for fqdn in "abc"]
    limit_placed(lab, 2)
    lab.settle()
    assert lab.states(*recipes) == ["waiting", "waiting", "queued"]


def test_limit__lowered_before_the_first_grant_is_in_the_log__grant_rests_on_the_rules(lab: World) -> None:
    limit_all(lab, 1)
    lab.submit(named("a"))
    (decision,) = lab.decide()
    assert "partition/default" in dict(decision.expected)


# The order of room


def test_order__low_wants_the_freed_system_and_high_an_idle_one__high_starts(lab: World) -> None:
    limit_all(lab, 1)
    runs = begin(lab, "a")
    low, high = begin(lab, "a", priority="Low"), begin(lab, "b", priority="High")
    finish(lab, runs)
    assert lab.states(low, high) == ["queued", "waiting"]


def test_order__both_wait_for_freed_systems__high_starts_whichever_is_asked_first(lab: World) -> None:
    for first, second in ("ab", "ba"):
        runs = [begin(lab, first), begin(lab, second)]
        limit_all(lab, 1)
        low, high = begin(lab, first, priority="Low"), begin(lab, second, priority="High")
        for recipe_id in runs:
            lab.complete(recipe_id)
        lab.settle()
        assert lab.states(low, high) == ["queued", "waiting"]
        lab.remove_job_filter("few")
        lab.settle()
        lab.complete(low)
        lab.complete(high)
        lab.settle()


def test_order__set_before_it_wants_a_busy_system__is_passed_over(lab: World) -> None:
    busy = begin(lab, "b")
    limit_all(lab, 2)
    runs = begin(lab, "a")
    low, high = begin(lab, "a", priority="Low"), begin(lab, "b", priority="High")
    finish(lab, runs)
    assert lab.states(low, high, busy) == ["waiting", "queued", "waiting"]


def test_order__high_has_another_lack__is_passed_over(lab: World) -> None:
    limit_all(lab, 1, priority=1)
    runs = begin(lab, "a")
    low, high = begin(lab, "a", priority="Low"), begin(lab, "b", priority="High")
    lab.put_job_filter("stop", "PAUSE", 0, predicate={"field": "priority", "op": "=", "value": "High"})
    lab.settle()
    finish(lab, runs)
    assert lab.states(low, high) == ["waiting", "queued"]


def test_order__new_set__comes_after_one_that_lacked_only_room(lab: World) -> None:
    limit_all(lab, 1)
    runs = begin(lab, "a")
    high = begin(lab, "b", priority="High")
    lab.submit(named("c"), priority="Low")
    lab.complete(runs)
    lab.settle()
    assert lab.states(high) == ["waiting"]


def test_order__unlimited_recipe_first_on_the_freed_system__takes_it(lab: World) -> None:
    lab.put_job_filter(
        "few", RATE_LIMITED, 0, limit=1, predicate={"field": "user", "op": "=", "value": "ada"}
    )
    runs = begin(lab, "a", owner="ada")
    limited = begin(lab, "a", owner="ada")
    free = begin(lab, "a", owner="eve", priority="High")
    finish(lab, runs)
    assert lab.states(limited, free) == ["queued", "waiting"]


def test_room__larger_set__is_passed_over_until_it_weighs_0_and_then_kept_for(lab: World) -> None:
    limit_placed(lab, 3)
    runs = [begin(lab, fqdn) for fqdn in "abc"]
    large = lab.submit_set([named("d"), named("e"), named("f")])
    lab.settle()
    small = begin(lab, "g")
    finish(lab, runs[0])
    assert lab.states(*large, small) == ["queued"] * 3 + ["waiting"]
    lab.now += K_TICKS
    later = begin(lab, "h")
    finish(lab, runs[1])
    finish(lab, runs[2])
    assert lab.states(*large, later) == ["queued"] * 4
    finish(lab, small)
    assert lab.states(*large, later) == ["waiting"] * 3 + ["queued"]


def test_room__kept_for_a_set_that_is_cancelled__the_next_gets_it(lab: World) -> None:
    limit_placed(lab, 2)
    runs = [begin(lab, fqdn) for fqdn in "ab"]
    large = lab.submit_set([named("d"), named("e")])
    lab.settle()
    lab.now += K_TICKS
    later = begin(lab, "h")
    finish(lab, runs[0])
    assert lab.states(later) == ["queued"]
    lab.cancel(large[0])
    lab.settle()
    assert lab.states(later) == ["waiting"]


def test_room__kept_for_a_set_whose_system_breaks__the_next_gets_it(lab: World) -> None:
    limit_placed(lab, 2)
    runs = [begin(lab, fqdn) for fqdn in "ab"]
    lab.submit_set([named("d"), named("e")])
    lab.settle()
    lab.now += K_TICKS
    later = begin(lab, "h")
    finish(lab, runs[0])
    lab.set_condition("d", "Broken")
    lab.settle()
    assert lab.states(later) == ["waiting"]


@pytest.mark.parametrize("weights", [True, False])
def test_room__set_of_five_beside_a_stream_of_single_ones__starts(lab: World, weights: bool) -> None:
    lab.configure(limits={"placed_recipes": 5}, weights={"enabled": weights})
    stream = [begin(lab, fqdn) for fqdn in "abcde"]
    large = lab.submit_set([named(*NAMES)] * 5)
    lab.settle()
    for _ in range(60):
        lab.now += timedelta(seconds=30)
        stream.append(begin(lab, NAMES))
        running = [each for each in stream if lab.states(each) == ["waiting"]]
        if lab.states(*large) == ["waiting"] * 5:
            break
        if running:
            finish(lab, running[0])
    assert lab.states(*large) == ["waiting"] * 5


def test_order__capped_recipe__counts_with_its_nominal_priority(lab: World) -> None:
    limit_all(lab, 1)
    lab.open_system("b", user("ada", "Low"))
    runs = begin(lab, "a", owner="ada")
    normal, capped = begin(lab, "a", owner="ada"), begin(lab, "b", owner="ada", priority="Urgent")
    finish(lab, runs)
    assert lab.states(normal, capped) == ["queued", "waiting"]


# Explanations


def test_limit__charged_set_leaves_it_by_its_priority__the_next_gets_the_room(lab: World) -> None:
    """The set that leaves the limit can take none of the idle systems that the next one wants."""
    limit_all(lab, 1, predicate={"field": "priority", "op": "=", "value": "Normal"})
    begin(lab, "b", priority="High")
    holder, _ = lab.submit_set([named("a"), named("b")])
    lab.settle()
    waiting = begin(lab, "d")
    assert lab.states(holder, waiting) == ["scheduled", "queued"]
    lab.change_priority(holder, "High")
    lab.settle()
    assert lab.states(waiting) == ["waiting"]


@pytest.mark.parametrize("restarts", [False, True])
def test_order__classes_met_in_another_order_after_a_restart__same_system(lab: World, restarts: bool) -> None:
    limit_placed(lab, 1)
    filler = begin(lab, "c", ("rate-limit:9:y",))
    begin(lab, "b", ("rate-limit:9:x",))
    high = begin(lab, "ab", ("rate-limit:9:y",), priority="High")
    begin(lab, "c", priority="Low")
    lab.complete(filler)
    if restarts:
        lab.restart()
    lab.settle()
    assert lab.system_of(high) == "b"


def test_explanation__no_room__names_each_limit_before_any_system(lab: World) -> None:
    limit_all(lab, 1)
    lab.configure(limits={"placed_recipes": 1})
    begin(lab, "a")
    waits = begin(lab, "b")
    explained = why_it_waits(lab.partition, lab.recipes[waits], WaitingOptions(limit=5))
    assert [(held.row, held.reason) for held in explained.held_back] == [
        ("rate-limit", "no room under a limit: job filter few (1)"),
        ("placed-recipes", "no room under a limit: placed recipes (1)"),
    ]
    assert explained.summary == "no room under a limit: job filter few (1)"


def test_correct__nothing_overlooked__finds_nothing(lab: World) -> None:
    limit_all(lab, 1)
    begin(lab, "a")
    begin(lab, "b")
    findings = Findings()
    assert correct(lab.partition, LoopInput(lab.now, {}), findings) == []
    lab.partition.rollback()
    assert findings.never_happen == 0


def test_correct__no_trigger_for_freed_room__finds_it() -> None:
    world = one_lab(rules(wakes=()))
    world.add_idle("a", "b")
    limit_all(world, 1)
    runs = begin(world, "a")
    begin(world, "b")
    finish(world, runs)
    findings = Findings()
    assert len(correct(world.partition, LoopInput(world.now, {}), findings)) == 1
    world.partition.rollback()
    assert findings.room_overlooked == 1
