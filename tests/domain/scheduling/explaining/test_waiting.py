"""Explanations of waiting recipes, case by case."""

from __future__ import annotations

import pytest

from domain.recipe_set.messages import ReportAborted, ReportInstalling
from domain.scheduling.explaining.candidates import Candidate
from domain.scheduling.explaining.waiting import Waiting, WaitingOptions, why_it_waits
from domain.scheduling.supply.reasons import OF_SYSTEM, SET_INCOMPLETE, SUBMITTED_BEFORE, UNSAFE
from tests.domain.scheduling.host_requirements import ANYTHING, BIG, named
from tests.domain.scheduling.labs import finish, occupy, wanting
from tests.domain.scheduling.policies import group
from tests.domain.scheduling.world import World


def explained(world: World, recipe_id: int, only: str | None = None, limit: int = 100) -> Waiting:
    return why_it_waits(world.partition, world.partition.sets.recipes[recipe_id], WaitingOptions(limit, only))


def on(answer: Waiting, fqdn: str) -> Candidate:
    (found,) = (one for one in answer.systems if one.fqdn == fqdn)
    return found


def test_waiting__busy_system__has_occupant_and_recipes_ahead(world: World) -> None:
    world.add_idle("a")
    runs = occupy(world, "a")["a"]
    urgent = world.submit(ANYTHING.text, priority="Urgent")
    first, second = world.submit(ANYTHING.text), world.submit(ANYTHING.text)
    world.settle()
    answer = on(explained(world, second), "a")
    assert (answer.verdict, answer.reasons) == ("not now", (f"waiting with recipe {runs}",))
    assert answer.holder is not None and answer.holder.recipe_id == runs
    assert answer.holder.since == world.systems["a"].since
    assert (answer.effective_priority, answer.before) == ("Normal", 2)
    assert [(one.recipe_id, one.by) for one in answer.ahead] == [
        (urgent, "effective priority Urgent before Normal"),
        (first, SUBMITTED_BEFORE),
    ]


def test_waiting__would_be_unsafe__is_passed_over(world: World) -> None:
    world.add_idle("a", "b", "c")
    runs = occupy(world, "a", "b", "c")
    finish(world, runs["c"], runs["b"])
    wanting(world, "a", "b")
    second = wanting(world, "c", "a", "b", priority="High")
    world.complete(runs["a"])
    answer = explained(world, second[1])
    assert (on(answer, "a").verdict, on(answer, "a").reasons) == ("passed over", (UNSAFE,))


def test_waiting__sibling_cannot_be_served__summary_says_so(world: World) -> None:
    world.add_idle("a", "b")
    world.set_condition("b", "Broken")
    first, second = world.submit_set([named("a"), named("b")])
    world.settle()
    assert on(explained(world, first), "a").reasons == (SET_INCOMPLETE,)
    assert explained(world, first).summary == f"1 system could run it, but {SET_INCOMPLETE}"
    runs = occupy(world, "a")["a"]
    assert on(explained(world, first), "a").reasons == (f"waiting with recipe {runs}", SET_INCOMPLETE)
    answer = explained(world, second)
    assert on(answer, "b").reasons == ("it is Broken",)
    assert answer.summary == "1 system could run it, which is not usable now"


def test_waiting__all_systems_lent_or_closed__reason_of_each(world: World) -> None:
    world.add_system("a")
    world.add_system("b", memory_mb=65536)
    world.settle()
    world.lend("a", "bob")
    world.put_group("qe", "eve")
    world.open_system("b", group("qe"))
    world.own("b", "eve")
    recipe_id = world.submit(ANYTHING.text, owner="ada")
    world.settle()
    answer = explained(world, recipe_id)
    assert [(one.fqdn, one.verdict, one.reasons) for one in answer.systems] == [
        ("a", "not now", (f"{OF_SYSTEM['loan']}: bob",)),
        ("b", "not allowed", (OF_SYSTEM["access"],)),
    ]
    assert answer.summary == "1 system could run it, which is on loan to somebody else"
    assert (answer.counted.lent, answer.counted.not_allowed, answer.counted.viable) == (1, 1, 0)


def test_waiting__lent_or_reserved_until_a_time__reason_has_time(world: World) -> None:
    world.add_idle("a")
    world.add_system("b", condition="Manual")
    world.settle()
    world.lend("a", "bob", until="2026-01-02T12:30:00+01:00")
    world.reserve("b", "eve", until="2026-01-03T00:00:00+00:00")
    recipe_id = world.submit(ANYTHING.text, owner="ada")
    world.settle()
    answer = explained(world, recipe_id)
    assert on(answer, "a").reasons == (f"{OF_SYSTEM['loan']}: bob until 2026-01-02 11:30 (UTC)",)
    assert "it is reserved by eve until 2026-01-03 00:00 (UTC)" in on(answer, "b").reasons


def test_waiting__rules__counts_of_passing_and_remaining_systems(world: World) -> None:
    world.add_system("a", memory_mb=65536)
    world.add_system("b")
    world.add_system("c", arches=["aarch64"], memory_mb=65536)
    world.settle()
    occupy(world, "a")
    recipe_id = world.submit(BIG.text)
    world.settle()
    answer = {rule.name: (rule.passes, rule.left) for rule in explained(world, recipe_id).rules}
    assert answer["registered"] == (3, 3)
    assert answer["arch"] == (2, 2)
    assert answer["requirement"] == (2, 1)
    assert answer["loan"] == (3, 1)


def test_waiting__only_one_system__all_its_reasons(world: World) -> None:
    world.add_system("a", memory_mb=65536)
    world.add_system("c", arches=["aarch64"])
    world.settle()
    occupy(world, "a")
    recipe_id = world.submit(BIG.text)
    world.settle()
    (answer,) = explained(world, recipe_id, only="c").systems
    assert answer.verdict == "never"
    assert answer.reasons == (OF_SYSTEM["arch"], OF_SYSTEM["requirement"])


def test_waiting__more_systems_than_limit__nearest_ones(world: World) -> None:
    world.add_idle("a", "b", "c")
    occupy(world, "a", "b", "c")
    for fqdn in "ab":
        world.submit(named(fqdn), priority="High")
    recipe_id = world.submit(ANYTHING.text)
    world.settle()
    answer = explained(world, recipe_id, limit=2)
    assert [(one.fqdn, one.before) for one in answer.systems] == [("c", 0), ("a", 1)]
    assert (answer.counted.usable, answer.counted.first_in_order) == (3, 1)
    assert (
        answer.summary == "3 systems could run it, 3 of them now or when free; it comes first on 1 of these"
    )


def test_waiting__others_rank_ahead_everywhere__summary_says_so(world: World) -> None:
    world.add_idle("a", "b")
    occupy(world, "a", "b")
    wanting(world, "a", priority="High")
    recipe_id = world.submit(named("a"))
    world.submit(ANYTHING.text, priority="Urgent")
    everywhere = world.submit(ANYTHING.text)
    world.settle()
    answer = explained(world, recipe_id).summary
    assert answer == "1 system could run it, usable now or when free; others come before it there"
    answer = explained(world, everywhere).summary
    assert (
        answer == "2 systems could run it, 2 of them now or when free; others come before it on all of these"
    )


def test_waiting__submission_not_allowed__summary_says_so(world: World) -> None:
    world.add_idle("a")
    recipe_id = world.submit(ANYTHING.text, owner="ada")
    world.put_group("qe", "eve")
    world.open_system("a", group("qe"))
    world.own("a", "eve")
    assert explained(world, recipe_id).summary == "1 system would do, and it may not be submitted there"


def test_occupant__recipe_runs_or_keeps_its_system__until_deadline(world: World) -> None:
    world.add_idle("a")
    kept = {"duration_seconds": 86_400, "when": "always"}
    runs = world.submit(named("a"), reservesys=kept)
    world.settle()
    waits = world.submit(named("a"))
    world.settle()
    for message, by in ((ReportInstalling(), "watchdog"), (ReportAborted("hung"), "reservesys")):
        world.report(runs, message)
        holder = on(explained(world, waits), "a").holder
        assert holder is not None
        assert (holder.until, holder.until_by) == (world.recipes[runs].recorded_deadline, by)


@pytest.mark.parametrize("until", ["2024-02-01T00:00:00Z", None])
def test_occupant__reserved_by_a_person__until_end(world: World, until: str | None) -> None:
    world.add_idle("b")
    world.add_system("a", condition="Manual")
    world.settle()
    world.reserve("a", until=until)
    waits = world.submit(named("a"))
    world.settle()
    holder = on(explained(world, waits), "a").holder
    assert holder is not None and holder.user == "ada"
    assert (holder.until is None, holder.until_by) == (until is None, until and "reservation")


def test_waiting__set_is_held_back__rows_of_admission_come_first(world: World) -> None:
    world.add_idle("a", "b")
    occupy(world, "a")
    depends_on = [{"job": 1, "states": ["completed"]}]
    recipe_id = world.submit(ANYTHING.text, submitted={"depends_on": depends_on})
    later = world.submit(named("a"))
    world.put_job_filter(
        "audit", "PAUSE", reason="until Friday", predicate={"field": "job_id", "op": "<", "value": 3}
    )
    world.settle()
    answer = explained(world, recipe_id)
    assert [(held.row, held.reason) for held in answer.held_back] == [
        ("dependency", "job 1, its dependency, has not ended"),
        ("job-filter", 'paused by the job filter "audit": until Friday'),
    ]
    assert answer.summary == answer.held_back[0].reason
    assert on(answer, "b").reasons == (answer.summary,)
    # Recipes behind it in the order of a are not shown as ahead.
    assert (on(answer, "a").before, on(answer, "a").ahead) == (0, ())
    assert explained(world, later).held_back == ()
