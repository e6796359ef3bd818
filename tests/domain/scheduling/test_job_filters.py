"""Job filters in the scheduler: sets that are paused or rejected, while they wait, hold systems and run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from domain.admission.job_filters import ACCEPT, CONTINUE, PAUSE, REJECT
from domain.directory.partitions import PARTITION
from domain.recipe.events import RecipeQueued
from domain.scheduling.decisions.draft import Decision
from domain.scheduling.world.triggers import ADMISSION
from tests.domain.scheduling.contents import check_indexes
from tests.domain.scheduling.effort import lab_of
from tests.domain.scheduling.host_requirements import ANYTHING, named
from tests.domain.scheduling.labs import finish, occupy, wanting
from tests.domain.scheduling.world import World

ACTIONS = (ACCEPT, CONTINUE, PAUSE, REJECT)
STATE_BY_ACTION = {ACCEPT: "waiting", CONTINUE: "waiting", PAUSE: "queued", REJECT: "cancelled"}
EVES = {"field": "user", "op": "=", "value": "eve"}
FACTS = {
    "submitter": "bot",
    "tasks": ["/burn", "/check"],
    "operations": ["firmware-update"],
    "reasons": ["project:x"],
}


def rule(world: World, action: str, name: str = "rule", **document: Any) -> None:
    world.put_job_filter(name, action, **document)


def is_first_grant_guarded(decisions: list[Decision]) -> bool:
    return any(subject == PARTITION for decision in decisions for subject, _ in decision.expected)


@pytest.fixture
def idle(world: World) -> World:
    """Return a lab with an idle system a."""
    world.add_idle("a")
    return world


@pytest.mark.parametrize("action", ACTIONS)
def test_action__of_a_rule_that_is_there__applies_to_new_sets(idle: World, action: str) -> None:
    rule(idle, action)
    recipe_id = idle.submit(named("a"))
    idle.settle()
    assert idle.states(recipe_id) == [STATE_BY_ACTION[action]]
    check_indexes(idle.partition)


@pytest.mark.parametrize("before", ACTIONS)
@pytest.mark.parametrize("after", [*ACTIONS, None])
def test_action__of_a_rule_that_comes_changes_or_goes__applies_to_waiting_sets(
    idle: World, before: str, after: str | None
) -> None:
    (runs,) = occupy(idle, "a").values()
    rule(idle, before)
    recipe_id = idle.submit(named("a"))
    idle.settle()
    if after is None:
        idle.remove_job_filter("rule")
    else:
        rule(idle, after)
    idle.settle()
    finish(idle, runs)
    expected = "waiting" if after is None else STATE_BY_ACTION[after]
    assert idle.states(recipe_id) == ["cancelled" if before == REJECT else expected]
    check_indexes(idle.partition)


@pytest.mark.parametrize("reason", ["", "the array is full"])
def test_pause__event_of_a_new_set__has_the_rule_and_its_reason(idle: World, reason: str) -> None:
    rule(idle, PAUSE, "no storage", reason=reason)
    idle.submit(named("a"))
    idle.settle()
    (event,) = (row.event for row in idle.log if isinstance(row.event, RecipeQueued))
    suffix = f": {reason}" if reason else ""
    assert event.reason == f'paused by the job filter "no storage"{suffix}'


@pytest.mark.parametrize(
    ("reason", "shown"), [("", 'job filter "strict"'), ("use the other lab", "use the other lab")]
)
@pytest.mark.parametrize("waits", [True, False])
def test_reject__event__has_the_reason_of_the_rule_and_the_cause(
    idle: World, reason: str, shown: str, waits: bool
) -> None:
    if waits:
        occupy(idle, "a")
    recipe_id = idle.submit(named("a"))
    if waits:
        idle.settle()
    rule(idle, REJECT, "strict", reason=reason)
    put = idle.position
    (decision,) = idle.settle()
    ((subject, event),) = decision.events
    assert (subject, event.reason) == (f"recipe/{recipe_id}", shown)  # type: ignore[attr-defined]
    assert is_first_grant_guarded([decision])
    if waits:
        assert (decision.trigger.kind, decision.trigger.cause) == (ADMISSION, f"event/{put}")


def test_pause__idle_system__is_not_taken_and_set_is_not_counted(idle: World) -> None:
    rule(idle, PAUSE, predicate=EVES)
    paused = idle.submit(ANYTHING.text, owner="eve")
    idle.settle()
    assert idle.partition.filters.demand_counts().value(0) == 0
    other = idle.submit(ANYTHING.text)
    idle.settle()
    finish(idle, other)
    assert idle.states(paused) == ["queued"]
    # An idle system is offered to it when the rule goes.
    idle.remove_job_filter("rule")
    idle.settle()
    assert idle.states(paused) == ["waiting"]


PREDICATES: list[tuple[Mapping[str, Any] | None, bool]] = [
    (None, True),
    ({"field": "user", "op": "=", "value": "ada"}, True),
    ({"field": "user", "op": "=", "value": "eve"}, False),
    ({"field": "submitter", "op": "=", "value": "bot"}, True),
    ({"field": "group", "op": "=", "value": "qe"}, True),
    ({"field": "priority", "op": ">", "value": "Medium"}, True),
    ({"field": "priority", "op": ">", "value": "Normal"}, False),
    ({"field": "task", "op": "like", "value": "/bur%"}, True),
    ({"field": "operation", "op": "in", "value": ["firmware-update"]}, True),
    ({"field": "reason", "op": "!=", "value": "project:x"}, False),
    ({"field": "job_id", "op": "<=", "value": "watermark"}, False),
    ({"not": {"field": "job_id", "op": "<=", "value": "watermark"}}, True),
]


@pytest.mark.parametrize(("predicate", "matches"), PREDICATES)
@pytest.mark.parametrize("restarts", [False, True])
def test_predicate__over_all_facts_of_a_set__decides(
    idle: World, predicate: Mapping[str, Any] | None, matches: bool, restarts: bool
) -> None:
    # The job has number 1, and the rule is older.
    recipe_id = idle.submit(named("a"), group="qe", submitted=FACTS)
    if restarts:
        idle.restart()
    rule(idle, PAUSE, predicate=predicate)
    idle.settle()
    assert idle.states(recipe_id) == ["queued" if matches else "waiting"]


def test_watermark__jobs_up_to_it__are_those_given_out_before_the_rule(idle: World) -> None:
    idle.add_idle("b", "c")
    (runs,) = occupy(idle, "a").values()
    older = idle.submit(named("b"))
    rule(idle, PAUSE, watermark=2, predicate={"field": "job_id", "op": ">", "value": "watermark"})
    newer = idle.submit(named("c"))
    idle.settle()
    assert idle.states(runs, older, newer) == ["waiting", "waiting", "queued"]


@pytest.mark.parametrize(
    ("rules", "state"),
    [
        # By priority, then watermark, then name.
        ([("a", PAUSE, 1, 0), ("b", ACCEPT, 0, 0)], "waiting"),
        ([("a", PAUSE, 0, 5), ("b", ACCEPT, 0, 4)], "waiting"),
        ([("b", PAUSE, 0, 0), ("a", ACCEPT, 0, 0)], "waiting"),
        ([("a", PAUSE, 0, 0), ("b", REJECT, 0, 0)], "queued"),
        ([("a", PAUSE, 1, 0), ("b", REJECT, 0, 0)], "cancelled"),
        # CONTINUE leaves the decision to the next one.
        ([("a", CONTINUE, 0, 0), ("b", PAUSE, 1, 0), ("c", ACCEPT, 2, 0)], "queued"),
        ([("a", CONTINUE, 0, 0), ("b", CONTINUE, 1, 0)], "waiting"),
        # After ACCEPT no rule is looked at.
        ([("a", ACCEPT, 0, 0), ("b", REJECT, 1, 0), ("c", PAUSE, 2, 0)], "waiting"),
        # A limit applies to the sets that match it first.
        ([("a", "RATE_LIMIT", 0, 0), ("b", REJECT, 1, 0)], "waiting"),
    ],
)
def test_rules__several__the_first_that_matches_and_is_not_continue_applies(
    idle: World, rules: list[tuple[str, str, int, int]], state: str
) -> None:
    for name, action, priority, watermark in rules:
        limit = {"limit": 5} if action == "RATE_LIMIT" else {}
        rule(idle, action, name, priority=priority, watermark=watermark, **limit)
    recipe_id = idle.submit(named("a"))
    idle.settle()
    assert idle.states(recipe_id) == [state]


@pytest.mark.parametrize("action", [PAUSE, REJECT])
def test_rule__put_while_sets_hold_and_run__touches_neither(world: World, action: str) -> None:
    world.add_idle("a", "b", "c")
    runs, busy = occupy(world, "a", "b").values()
    holder, assigned = wanting(world, "c", "b")
    assert world.states(holder, assigned) == ["scheduled", "assigned"]
    rule(world, action)
    world.settle()
    finish(world, busy)
    assert world.states(runs, holder, assigned) == ["waiting"] * 3
    check_indexes(world.partition)


@pytest.mark.parametrize(("action", "state"), [(PAUSE, "queued"), (REJECT, "cancelled")])
@pytest.mark.parametrize("restarts", [False, True])
def test_rule__put_while_a_set_holds__applies_when_it_holds_nothing_any_more(
    world: World, action: str, state: str, restarts: bool
) -> None:
    world.add_idle("a", "b", "c")
    occupy(world, "b")
    holder, assigned = wanting(world, "ac", "b")
    rule(world, action)
    world.settle()
    world.set_condition("a", "Broken")
    if restarts:
        world.restart()
    world.settle()
    # System c would do, but the set holds nothing.
    assert world.states(holder, assigned) == [state] * 2
    check_indexes(world.partition)


def test_priority__changed_so_that_a_rule_rejects__set_is_cancelled(idle: World) -> None:
    occupy(idle, "a")
    rule(idle, REJECT, predicate={"field": "priority", "op": "=", "value": "Urgent"})
    recipe_id = idle.submit(named("a"))
    idle.settle()
    idle.change_priority(recipe_id, "Urgent")
    idle.settle()
    assert idle.states(recipe_id) == ["cancelled"]


def test_reject__while_a_dependency_has_not_ended__is_obeyed_at_once(world: World) -> None:
    world.add_idle("a", "b")
    occupy(world, "a")
    recipe_id = world.submit(named("b"), submitted={"depends_on": [{"job": 1, "states": ["completed"]}]})
    world.settle()
    rule(world, REJECT)
    world.settle()
    assert world.states(recipe_id) == ["cancelled"]


def test_pause__and_a_dependency__both_must_free_the_set(world: World) -> None:
    world.add_idle("a", "b")
    (runs,) = occupy(world, "a").values()
    rule(world, PAUSE)
    recipe_id = world.submit(named("b"), submitted={"depends_on": [{"job": 1, "states": ["completed"]}]})
    world.settle()
    finish(world, runs)
    assert world.states(recipe_id) == ["queued"]
    world.remove_job_filter("rule")
    world.settle()
    assert world.states(recipe_id) == ["waiting"]


def test_many_rejected_sets__with_a_limit_of_decisions__all_end_in_several_commits(idle: World) -> None:
    idle.add_idle("b")
    occupy(idle, "a", "b")
    sets = [idle.submit_set([named("a"), named("b")], guests={0: [1]}) for _ in range(7)]
    idle.settle()
    rule(idle, REJECT)
    counts = []
    while decisions := idle.decide(limit=3):
        idle.commit_decisions(decisions, idle.position)
        idle.restart()
        counts.append(len(decisions))
    assert counts == [3, 3, 1]
    assert {state for ids in sets for state in idle.states(*ids)} == {"cancelled"}
    check_indexes(idle.partition)


# Races: the first commit is obeyed.


def in_flight(world: World) -> tuple[int, list[Decision]]:
    """Return the basis and the decisions that the scheduler has made, but not committed."""
    return world.position, world.decide(limit=9)


@pytest.mark.parametrize(("action", "state"), [(PAUSE, "queued"), (REJECT, "cancelled")])
def test_race__rule_put_before_the_first_grant_is_committed__grant_is_refused(
    idle: World, action: str, state: str
) -> None:
    rule(idle, CONTINUE, "other")
    recipe_id = idle.submit(named("a"))
    _, decisions = in_flight(idle)
    rule(idle, action)
    assert idle.in_conflict(decisions)
    idle.settle()
    assert idle.states(recipe_id) == [state]


@pytest.mark.parametrize("action", [PAUSE, REJECT])
def test_race__rule_put_after_the_first_grant__grant_stays(world: World, action: str) -> None:
    world.add_idle("a", "b")
    rule(world, CONTINUE, "other")
    recipe_id, sibling = world.submit_set([named("a"), named("b")])
    basis, decisions = in_flight(world)
    assert not world.in_conflict(decisions)
    world.commit_decisions(decisions, basis)
    rule(world, action)
    world.settle()
    assert world.states(recipe_id, sibling) == ["waiting", "waiting"]


def test_race__rule_removed_before_its_rejection_is_committed__rejection_is_refused(idle: World) -> None:
    rule(idle, REJECT)
    recipe_id = idle.submit(named("a"))
    _, decisions = in_flight(idle)
    idle.remove_job_filter("rule")
    assert idle.in_conflict(decisions)
    idle.settle()
    assert idle.states(recipe_id) == ["waiting"]


def test_race__rule_removed_while_a_new_set_is_paused__set_gets_the_idle_system(idle: World) -> None:
    rule(idle, PAUSE)
    recipe_id = idle.submit(named("a"))
    basis, decisions = in_flight(idle)
    idle.remove_job_filter("rule")
    assert not idle.in_conflict(decisions)
    idle.commit_decisions(decisions, basis)
    assert idle.states(recipe_id) == ["queued"]
    idle.settle()
    assert idle.states(recipe_id) == ["waiting"]


def test_race__rule_put_while_a_new_set_is_queued__set_is_rejected(idle: World) -> None:
    occupy(idle, "a")
    recipe_id = idle.submit(named("a"))
    basis, decisions = in_flight(idle)
    rule(idle, REJECT)
    assert not idle.in_conflict(decisions)
    idle.commit_decisions(decisions, basis)
    idle.settle()
    assert idle.states(recipe_id) == ["cancelled"]


def test_race__rule_put_while_a_set_lets_go__set_is_rejected(world: World) -> None:
    world.add_idle("a", "b", "c")
    occupy(world, "b")
    holder, assigned = wanting(world, "a", "b")
    world.set_condition("b", "Broken")
    basis, decisions = in_flight(world)
    assert decisions[0].trigger.kind == "let-go"
    rule(world, REJECT)
    assert not world.in_conflict(decisions)
    world.commit_decisions(decisions, basis)
    world.settle()
    assert world.states(holder, assigned) == ["cancelled", "cancelled"]


def test_grants__before_the_very_first_rule__depend_on_its_absence(idle: World) -> None:
    idle.submit(named("a"))
    (decision,) = idle.settle()
    assert dict(decision.expected)[PARTITION] == 0


def test_grants__to_a_holder__depend_on_the_partition_too(world: World) -> None:
    world.add_idle("a", "b")
    rule(world, CONTINUE)
    (busy,) = occupy(world, "b").values()
    wanting(world, "a", "b")
    world.complete(busy)
    (decision,) = world.settle()
    assert PARTITION in dict(decision.expected), "it may be stopped meanwhile"


@pytest.mark.parametrize("paused", [3, 300])
def test_effort__beside_paused_sets__is_the_same(paused: int) -> None:
    world = lab_of(3, busy=True, queued=0)
    (first, *_) = (each.recipe_id for each in world.in_state("waiting"))
    rule(world, PAUSE, predicate=EVES)
    for _ in range(paused):
        world.submit(ANYTHING.text, owner="eve")
    world.settle()
    world.complete(first)
    effort = world.partition.effort
    effort.evaluations = effort.rows = 0
    world.settle()
    assert (effort.evaluations, effort.rows) == (0, 0)
