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
    ("raise, lower", case("a^Medium b", "a b", "Normal+: ab b")),
    ("close, open", case("a b", "a b", "ab")),
    ("close, open, break, repair", case("a b", "Normal+: ab", "ab")),
    ("join, leave, close pool, open pool", case("a b", "a b", "ab")),
    ("lend away, end loan", case("a b", "a b", "ab")),
    ("close, lend, end loan", case("a b", "ab b", "High: a")),
    ("close, give, take", case("a b", "ab b", "High: a")),
    ("close, leave group, join group", case("a b^Low", "Normal+: a b", "High: b")),
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
        Family("people", "everything that people do to systems and labs", lambda: _people(PEOPLE)),
        Family(
            "races",
            "another action, or a restart, between any two commits of the scheduler",
            lambda: _people(RACING, races=1),
        ),
        Family("people-races", "the same for everything that people do", lambda: _people(PEOPLE, races=1)),
    )
}
