"""Families of cases, each case with the options of its exploration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from random import Random

from tests.model_check.case import LabCase, case
from tests.model_check.enumeration import all_cases
from tests.model_check.steps import Options

JOBS = ("submit", "finish", "cancel")
BREAKING = (*JOBS, "break", "repair")

Task = tuple[LabCase, Options]


@dataclass(frozen=True)
class Family:
    name: str
    about: str
    tasks: Callable[[], list[Task]]

    def sample(self, size: int, seed: int) -> list[Task]:
        """Return `size` random tasks in order, or all if there are no more."""
        tasks = self.tasks()
        if size >= len(tasks):
            return tasks
        chosen = sorted(Random(seed).sample(range(len(tasks)), size))
        return [tasks[number] for number in chosen]


def _small(systems: int) -> list[LabCase]:
    """Return cases with one or two sets of up to three recipes, or three sets of up to two."""
    shapes = ((1, 3, ("Normal",)), (2, 3, ("Normal", "High")), (3, 2, ("Normal",)))
    return [
        found
        for (sets, recipes, priorities), number in product(shapes, range(1, systems + 1))
        for found in all_cases(number, sets, recipes, priorities)
    ]


def _with_priorities() -> list[LabCase]:
    """Return cases with two sets of different priority."""
    cases = all_cases(3, 2, 3, ("Normal", "High"))
    return [each for each in cases if len({job.priority for job in each.jobs}) > 1]


def _capped() -> list[LabCase]:
    """Return such cases with one set on behalf of a group; the other set is capped on one system.

    Both wait for that system only while it is broken; otherwise the first set takes it at once.
    """
    return [
        LabCase(
            each.systems,
            tuple(replace(job, for_group=urgent == (job.priority == "High")) for job in each.jobs),
            maxima,
        )
        for each in _with_priorities()
        for urgent in (False, True)
        for maxima in [((each.systems[0][0], "Low"),)]
    ]


def _all(cases: list[LabCase], options: Options) -> list[Task]:
    return [(each, options) for each in cases]


# Actions of people besides jobs, and cases in which they matter.
PEOPLE: tuple[tuple[str, LabCase], ...] = (
    ("drain, undrain", case("a b", "a b", "b a")),
    ("drain, undrain", case("a:Manual b", "!a b", "High:!a")),
    ("drain, undrain, break", case("a b", "ab", "a b")),
    ("occupy, vacate", case("a b", "a b", "b a")),
    ("occupy, vacate, break", case("a b", "!a b", "ab")),
    ("reserve, give back, automate, make manual", case("a:Manual b", "!a b", "ab")),
    ("reserve, give back", case("a:Manual b", "!a b", "High:!a")),
    ("remove, automate", case("a b", "a b", "b a")),
    ("remove, make manual, break", case("a b", "!a b", "High:!a")),
    ("break, repair, make manual", case("a b", "!a b", "a b")),
    ("disable, enable", case("a b@2", "a", "ab")),
    ("disable, enable", case("a b c@2", "a b", "ac")),
    ("fall silent, be heard", case("a b@2", "a", "ab")),
    ("fall silent, be heard", case("a b c@2", "a b", "ac")),
    ("grow, shrink", case("a b", "a~big b", "ab")),
    ("join, leave", case("a b", "a~pool b", "ab")),
    ("move", case("a b c@2", "a b", "bc ac")),
    ("move, repair", case("a b:Broken c@2", "a b", "a")),
    ("tree arrives, tree leaves", case("a b@2", "a", "ab")),
    ("tree arrives, tree leaves", case("a b", "a b", "b a")),
    ("raise, lower", case("a b", "a b", "ab b")),
    ("change", case("a b", "a b", "b")),
    ("change, break", case("a b", "ab", "b")),
    ("raise, lower", case("a^Medium b", "a b", "Normal+: ab b")),
    ("close, open", case("a b", "a b", "ab")),
    ("close, open, break, repair", case("a b", "Normal+: ab", "ab")),
    ("join, leave, close pool, open pool", case("a b", "a b", "ab")),
    ("lend away, end loan", case("a b", "a b", "ab")),
    ("close, lend, end loan", case("a b", "ab b", "High: a")),
    ("close, give, take", case("a b", "ab b", "High: a")),
    ("close, leave group, join group", case("a b^Low", "Normal+: a b", "High: b")),
    ("complete, break, repair", case("a b", "a b", "ab <0")),
    ("pause, resume, break, repair", case("a b", "Normal+: a b", "ab")),
    ("add, break, repair", case("a b:Broken c:Absent", "a bc", "High:bc")),
)

# Cases that are small enough for another action between any two commits of the scheduler.
RACING: tuple[tuple[str, LabCase], ...] = (
    ("break, repair", case("a b", "a b", "b")),
    ("break, repair", case("a b@2", "a", "ab")),
    ("drain, undrain", case("a:Manual b", "!a b", "High:!a")),
    ("disable, enable", case("a b@2", "a", "a")),
    ("fall silent, be heard", case("a b@2", "a", "a")),
    ("reserve, give back", case("a:Manual b", "!a b", "!a")),
    ("raise, lower", case("a b", "a", "ab")),
    ("complete", case("a b", "a", "b <0")),
    ("change", case("a b", "a", "b")),
    ("pause, resume", case("a b", "Normal+: a b", "ab")),
)


def _overtaking() -> list[LabCase]:
    """Return cases in which recipes of two sets with systems come before a queued recipe of a third set."""
    jobs = (("a", "a b", "a c"), ("ab", "a b", "a c"), ("a b", "a c", "b c"), ("a", "High:a b", "a c"))
    return [case("a b c", *each, max_overtaken=bound) for each in jobs for bound in (0, 1, 2)]


# Locks: two names, both modes, the whole lab.
LOCKS: tuple[tuple[str, LabCase], ...] = (
    ("complete, narrow", case("a b c", "a%X", "b%X", "c%x")),
    ("narrow, lower", case("a b c", "a%xY", "High:b%X", "c%y")),
    ("break, repair", case("a b c", "a%X", "b%X c", "c%x")),
    ("break, repair", case("a b c", "ab%X", "a%Y b%x", "c%X")),
    ("raise, lower", case("a b c", "a%*", "b", "c%X")),
    ("complete", case("a b c@2", "a%*", "b%X", "c%X")),
    ("narrow", case("a b c d", "a%x", "b%X", "c%x", "d%x", max_overtaken=0)),
    ("narrow", case("a b c d", "a%x", "b%X", "c%x", "d%x", max_overtaken=1)),
    ("lower", case("a b c d", "a", "b%*", "c", "d", max_overtaken=1)),
    ("disable, enable, drain", case("a b", "a%X", "b%X")),
)
ROOM: tuple[tuple[str, LabCase], ...] = (
    ("complete", case("a b c", "a #1", "High:b #1", "c #1")),
    ("complete, raise, lower", case("a b", "a #1", "a #1", "b #1")),
    ("complete", case("a b c", "a #2", "b #2", "High:c #2", "a")),
    ("limit, unlimit", case("a b", "a", "High:b", "ab")),
    ("limit, unlimit, complete", case("a b c", "a b", "c", "b")),
    ("break, repair", case("a b", "a b #1", "ab #1")),
    ("pause, resume", case("a b", "Normal+: a #1", "b #1")),
    ("complete", case("a b", "a #1", "b <0#1", "b #1")),
    # Queues: the maximum of a leaf, of a parent alone, of jobs, and of a leaf and its parent together.
    ("complete, raise", case("a b c", "a @x", "b @x", "High:c @x", queues="x=2")),
    ("complete, break", case("a b c", "a @k.x", "b @k.y", "High:c @k.y", "c", queues="k=1")),
    ("complete", case("a b", "a @x", "b @x", "ab @x", queues="x=1j")),
    ("limit, unlimit, complete", case("a b c", "a b @k.x", "c @k.y", "b @k.x", queues="k=2 k.x=2")),
    # Fair shares: of leaves, of parents with a guarantee and a maximum, and with a set of two.
    ("complete, raise", case("a b", "a @x", "b @x", "ab @x", "High:ab @y", queues="fair")),
    ("complete, break", case("a b c", "a @k.x", "bc @k.x", "bc @k.y", "c @y", queues="fair k=2 k=2g")),
    ("complete", case("a b", "a b @x", "a @y", "b @y", queues="fair y=2g")),
)
# Weights, which age by ticks, and room that is kept for sets that have waited long.
TICKS: tuple[tuple[str, LabCase], ...] = (
    ("tick, break, repair", case("a b", "b%X", "a%X", "a", coefficient=2)),
    ("tick, break, repair", case("a b", "b%X", "a%x", "a%Y", coefficient=1)),
    ("tick, complete, narrow", case("a b", "a%X", "ab%x", "a%y", coefficient=1)),
    ("tick, break, repair", case("a b c", "c%X", "a%X b", "a", coefficient=1)),
    ("tick", case("a b c", "a%X b", "a%x c", "a%Y", coefficient=1, max_overtaken=1)),
    ("tick, raise, lower", case("a b", "ab%X", "a%X", "ab%*", coefficient=1)),
    ("tick, break, repair", case("a b", "a b", "a", "b", coefficient=1, max_placed=2)),
    ("tick, limit, unlimit", case("a b", "a b", "a", "b", coefficient=1, max_placed=2)),
    ("tick, lower", case("a b c", "a b", "c", "High:b", coefficient=1, max_placed=2)),
    ("tick, pause, resume", case("a b c", "Normal+: a b%X", "c%x", "b", coefficient=1, max_placed=2)),
    ("tick", case("a b c", "c", "a b c #1", "High:a #1", "b", coefficient=1, max_placed=3)),
    ("tick, complete", case("a b c", "a @k.x", "b c @k.x", "c @k.y", coefficient=1, queues="k=2 k.x=2")),
)
# Two partitions, and labs that move between them.
PARTITIONS: tuple[tuple[str, LabCase], ...] = (
    ("move lab", case("a b@2", "ab", "ab /2", "b /2", other="2")),
    ("move lab", case("a b c@2", "a b", "abc /2", other="2")),
    ("move lab, break, repair", case("a b@2", "ab", "ab /2", other="2")),
    ("move lab, disable, enable", case("a b@2", "ab", "ab /2", other="")),
    ("move lab", case("a b@2 c@2", "b c /2", "ab /2", "ac", other="2")),
    ("move lab, move", case("a b@2", "ab", "ab /2", other="2")),
    ("move lab, fall silent, be heard", case("a b@2", "ab", "ab /2", other="2")),
)
RACING_LABS: tuple[tuple[str, LabCase], ...] = (
    ("move lab", case("a b@2", "a", "ab /2", other="2")),
    ("move lab", case("a b@2", "ab", "ab /2", other="2")),
    ("move lab, break, repair", case("a@2", "a", "a /2", other="2")),
)
# Preemption beside claims by force, occupied systems, another partition, locks, and maxima of queues.
PREEMPTION: tuple[tuple[str, LabCase], ...] = (
    ("preempt, run, complete", case("a b", "a @o &", "a b @o &", "ab @k", queues="fair k=1g")),
    ("preempt, run, break, repair", case("a b", "ab @o &", "High:a @o &", "a b @k", queues="fair k=2g")),
    ("preempt, break, repair", case("a b", "ab @o &", "!b @k", queues="fair k=1g")),
    ("preempt, run", case("a b", "a%X @o &", "b%X @o", "ab%x @k", queues="fair k=1g")),
    ("preempt, run, occupy, vacate", case("a b", "a @o &", "!a @o", "a @k", queues="fair k=1g")),
    ("preempt, run, complete", case("a b", "a b @o.x &", "!a @k", "b @k", queues="fair o=2 k=1g")),
    (
        "preempt, run, occupy, vacate",
        case("a b@2", "a @o &", "!a @k", "b /2", queues="fair k=1g", other="2"),
    ),
    ("preempt, move lab", case("a b@2", "ab @o &", "!b @k", "b /2", queues="fair k=1g", other="2")),
)
RACING_FOR_LOCKS: tuple[tuple[str, LabCase], ...] = (
    ("complete", case("a b", "a%X", "b%X")),
    ("narrow", case("a b", "a%X", "b%x")),
    ("break", case("a b c", "c%X", "a%X b")),
    ("limit, unlimit", case("a b", "a", "b")),
    ("complete", case("a b", "a #1", "b #1")),
)


def _people(rows: tuple[tuple[str, LabCase], ...], races: int = 0) -> list[Task]:
    return [
        (each, Options((*JOBS, *verbs.split(", ")), races=races, restarts=bool(races)))
        for verbs, each in rows
    ]


FAMILIES = {
    family.name: family
    for family in (
        Family(
            "two-systems",
            "all cases of up to 2 systems; systems break and are repaired",
            lambda: _all(_small(2), Options(BREAKING)),
        ),
        Family(
            "two-sets",
            "3 systems, up to 2 sets of up to 3 recipes; systems break and are repaired",
            lambda: _all(all_cases(3, 1, 3) + all_cases(3, 2, 3), Options(BREAKING)),
        ),
        Family(
            "two-sets-ranked",
            "the same with one set more urgent; nothing breaks",
            lambda: _all(_with_priorities(), Options(JOBS)),
        ),
        Family(
            "two-sets-ranked-breaking",
            "the same; systems break and are repaired",
            lambda: _all(_with_priorities(), Options(BREAKING)),
        ),
        Family(
            "two-sets-capped",
            "the same, one set on behalf of a group, the other one capped on one system",
            lambda: _all(_capped(), Options(BREAKING)),
        ),
        Family(
            "three-sets",
            "3 systems, 3 sets of up to 2 recipes; nothing breaks",
            lambda: _all(all_cases(3, 3, 2), Options(JOBS)),
        ),
        Family(
            "three-sets-breaking",
            "the same; systems break and are repaired",
            lambda: _all(all_cases(3, 3, 2), Options(BREAKING)),
        ),
        Family(
            "overtaking",
            "3 systems, and sets that are overtaken at most 0, 1 or 2 times",
            lambda: _all(_overtaking(), Options(JOBS)),
        ),
        Family("people", "everything that people do to systems and labs", lambda: _people(PEOPLE)),
        Family(
            "races",
            "another action, or a restart, between any two commits of the scheduler",
            lambda: _people(RACING, races=1),
        ),
        Family("locks", "resource locks: two names, both modes, whole lab", lambda: _people(LOCKS)),
        Family("room", "limits, and the order in which sets get room", lambda: _people(ROOM)),
        Family(
            "ticks", "weights and ticks, and room that is kept for sets after ticks", lambda: _people(TICKS)
        ),
        Family(
            "locks-races",
            "the races for locks and room",
            lambda: _people(RACING_FOR_LOCKS, races=1),
        ),
        Family(
            "preemption",
            "preemption beside claims, occupied systems, locks, maxima of queues, and another partition",
            lambda: _people(PREEMPTION),
        ),
        Family("partitions", "two partitions, and labs that move", lambda: _people(PARTITIONS)),
        Family(
            "partitions-races",
            "the same, with another action, or a restart, between any two commits",
            lambda: _people(RACING_LABS, races=1),
        ),
        Family("people-races", "the same for everything that people do", lambda: _people(PEOPLE, races=1)),
    )
}
