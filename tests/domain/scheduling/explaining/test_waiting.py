"""Why a recipe waits, case by case."""

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


def explained(world: World, recipe_id: int, only: str | None = None, most: int = 100) -> Waiting:
    return why_it_waits(world.partition, world.partition.sets.recipes[recipe_id], WaitingOptions(most, only))


def on(told: Waiting, fqdn: str) -> Candidate:
    (found,) = (one for one in told.systems if one.fqdn == fqdn)
    return found


def test_waiting__system_is_busy__tells_who_has_it_since_when_and_who_comes_before(world: World) -> None:
    world.add_idle("a")
    runs = occupy(world, "a")["a"]
    urgent = world.submit(ANYTHING.text, priority="Urgent")
    first, second = world.submit(ANYTHING.text), world.submit(ANYTHING.text)
    world.settle()
    told = on(explained(world, second), "a")
    assert (told.verdict, told.reasons) == ("not now", (f"waiting with recipe {runs}",))
    assert told.holder is not None and told.holder.recipe_id == runs
    assert told.holder.since == world.systems["a"].since
    assert (told.effective_priority, told.before) == ("Normal", 2)
    assert [(one.recipe_id, one.by) for one in told.ahead] == [
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
    told = explained(world, second[1])
    assert (on(told, "a").verdict, on(told, "a").reasons) == ("passed over", (UNSAFE,))


def test_waiting__its_sibling_could_not_be_served__says_so(world: World) -> None:
    world.add_idle("a", "b")
    world.set_condition("b", "Broken")
    first, second = world.submit_set([named("a"), named("b")])
    world.settle()
    assert on(explained(world, first), "a").reasons == (SET_INCOMPLETE,)
    assert explained(world, first).summary == f"1 system could run it, but {SET_INCOMPLETE}"
    runs = occupy(world, "a")["a"]
    assert on(explained(world, first), "a").reasons == (f"waiting with recipe {runs}", SET_INCOMPLETE)
    told = explained(world, second)
    assert on(told, "b").reasons == ("it is Broken",)
    assert told.summary == "1 system could run it, which is not usable now"


def test_waiting__all_are_lent_or_closed__tells_each(world: World) -> None:
    world.add_system("a")
    world.add_system("b", memory_mb=65536)
    world.settle()
    world.lend("a", "bob")
    world.put_group("qe", "eve")
    world.open_system("b", group("qe"))
    world.own("b", "eve")
    recipe_id = world.submit(ANYTHING.text, owner="ada")
    world.settle()
    told = explained(world, recipe_id)
    assert [(one.fqdn, one.verdict, one.reasons) for one in told.systems] == [
        ("a", "not now", (f"{OF_SYSTEM['loan']}: bob",)),
        ("b", "not allowed", (OF_SYSTEM["access"],)),
    ]
    assert told.summary == "1 system could run it, which is on loan to somebody else"
    assert (told.counted.lent, told.counted.not_allowed, told.counted.viable) == (1, 1, 0)


def test_waiting__lent_or_reserved_until_a_time__tells_it(world: World) -> None:
    world.add_idle("a")
    world.add_system("b", condition="Manual")
    world.settle()
    world.lend("a", "bob", until="2026-01-02T12:30:00+01:00")
    world.reserve("b", "eve", until="2026-01-03T00:00:00+00:00")
    recipe_id = world.submit(ANYTHING.text, owner="ada")
    world.settle()
    told = explained(world, recipe_id)
    assert on(told, "a").reasons == (f"{OF_SYSTEM['loan']}: bob until 2026-01-02 11:30 (UTC)",)
    assert "it is reserved by eve until 2026-01-03 00:00 (UTC)" in on(told, "b").reasons


def test_waiting__rules__tell_how_many_each_lets_through_and_how_many_are_left(world: World) -> None:
    world.add_system("a", memory_mb=65536)
    world.add_system("b")
    world.add_system("c", arches=["aarch64"], memory_mb=65536)
    world.settle()
    occupy(world, "a")
    recipe_id = world.submit(BIG.text)
    world.settle()
    told = {rule.name: (rule.passes, rule.left) for rule in explained(world, recipe_id).rules}
    assert told["registered"] == (3, 3)
    assert told["arch"] == (2, 2)
    assert told["requirement"] == (2, 1)
    assert told["loan"] == (3, 1)


def test_waiting__one_system_is_asked_for__tells_every_reason_why_it_never_will(world: World) -> None:
    world.add_system("a", memory_mb=65536)
    world.add_system("c", arches=["aarch64"])
    world.settle()
    occupy(world, "a")
    recipe_id = world.submit(BIG.text)
    world.settle()
    (told,) = explained(world, recipe_id, only="c").systems
    assert told.verdict == "never"
    assert told.reasons == (OF_SYSTEM["arch"], OF_SYSTEM["requirement"])


def test_waiting__more_systems_than_asked_for__the_nearest_are_told(world: World) -> None:
    world.add_idle("a", "b", "c")
    occupy(world, "a", "b", "c")
    for fqdn in "ab":
        world.submit(named(fqdn), priority="High")
    recipe_id = world.submit(ANYTHING.text)
    world.settle()
    told = explained(world, recipe_id, most=2)
    assert [(one.fqdn, one.before) for one in told.systems] == [("c", 0), ("a", 1)]
    assert (told.counted.usable, told.counted.first_in_order) == (3, 1)
    assert told.summary == "3 systems could run it, 3 of them now or when free; it comes first on 1 of these"


def test_waiting__others_stand_before_it_everywhere__says_so(world: World) -> None:
    world.add_idle("a", "b")
    occupy(world, "a", "b")
    wanting(world, "a", priority="High")
    recipe_id = world.submit(named("a"))
    world.submit(ANYTHING.text, priority="Urgent")
    everywhere = world.submit(ANYTHING.text)
    world.settle()
    told = explained(world, recipe_id).summary
    assert told == "1 system could run it, usable now or when free; others come before it there"
    told = explained(world, everywhere).summary
    assert told == "2 systems could run it, 2 of them now or when free; others come before it on all of these"


def test_waiting__it_may_not_be_submitted_there__says_so(world: World) -> None:
    world.add_idle("a")
    recipe_id = world.submit(ANYTHING.text, owner="ada")
    world.put_group("qe", "eve")
    world.open_system("a", group("qe"))
    world.own("a", "eve")
    assert explained(world, recipe_id).summary == "1 system would do, and it may not be submitted there"


def test_holder__recipe_runs_or_keeps_its_system__is_told_until_when(world: World) -> None:
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
def test_holder__person_has_reserved_it__is_told_until_when(world: World, until: str | None) -> None:
    world.add_idle("b")
    world.add_system("a", condition="Manual")
    world.settle()
    world.reserve("a", until=until)
    waits = world.submit(named("a"))
    world.settle()
    holder = on(explained(world, waits), "a").holder
    assert holder is not None and holder.user == "ada"
    assert (holder.until is None, holder.until_by) == (until is None, until and "reservation")
