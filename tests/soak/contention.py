"""Contention in the soak: partitions, queues, locks, dependencies and buckets of jobs, and an admin who
changes the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

from tests.soak.book import Acknowledged
from tests.soak.people import LATELY, SetOf, SoakUser
from tests.soak.shuffled_rounds import shuffled_rounds

NETWORKS = ("n1", "n2", "n3")
BUCKETS = ("rate-limit:1:array", "rate-limit:2:switch")
# Shares of the jobs with each.
LOCKED, WHOLE_LAB, IN_BUCKET, DEPENDENT, FAR_JOB, OF_A_TEAM = 0.4, 0.02, 0.1, 0.15, 0.3, 0.6
PREEMPTIBLE = 0.5
# Longer than the scheduler takes to obey a rule, and short beside the time limit of a recovery.
RULE_SECONDS, QUIET_SECONDS = (1.0, 5.0), (1.0, 6.0)
# The partition that has one of the two generated labs.
FAR = "far"
FILTER = "/filters/soak"
# The probe is Urgent, so that no job filter delays it.
BELOW_URGENT = {"field": "priority", "op": "<", "value": "Urgent"}
# Of 24 systems.
MAX_PLACED = (4, 8, 16)
TEAMS = ("a", "b", "c")
# Team `a` has a queue; the others have one from the template while they have jobs. No set is larger than
# a maximum.
TREE = {
    # Sets that wait a minute claim busy systems.
    "claims": {"after_ticks": 2, "for_ticks": 4},
    # Teams have guarantees; the other jobs, in `root.default`, have none.
    "preemption": {"enabled": True, "after_seconds": 5, "again_after_seconds": 5},
    "queues": {
        "queues": [
            {
                "name": "teams",
                "order": "fair",
                "max": 12,
                "template": {"order": "fair", "max": 6, "guaranteed": 2, "max_jobs": 4},
                "queues": [{"name": "a", "order": "fair", "max": 8, "guaranteed": 4}],
            }
        ]
    },
    "placement": [
        {
            "rule": "tag",
            "value": "product",
            "create": True,
            "parent": {"rule": "fixed", "value": "root.teams"},
        }
    ],
}


Rule = Callable[[SoakUser, Random], None]


def share_lab(person: SoakUser, far_lab: str) -> None:
    """Create the partition `far` with that lab, and configure the queues of `default`."""
    person.write("PUT", f"/partitions/{FAR}", None, overtaken=())
    _configure(person, FAR, {"lab_controllers": [far_lab]})
    _configure(person, "default", TREE)


def contended(
    jobs: Iterator[dict[str, Any]], chance: Random, earlier: Sequence[SetOf]
) -> Iterator[dict[str, Any]]:
    """Yield the jobs with a partition, and a share of them with teams, locks, buckets, and dependencies.

    A job depends on one of the `earlier` recipe sets of its partition.
    """
    for job in jobs:
        partition = FAR if chance.random() < FAR_JOB else "default"
        found = {**job, "partition": partition}
        found["recipe_sets"] = [_with_locks(each, chance) for each in job["recipe_sets"]]
        if chance.random() < IN_BUCKET:
            found["reasons"] = [chance.choice(BUCKETS)]
        if chance.random() < OF_A_TEAM:
            found |= {"retention_tag": "active", "product": chance.choice(TEAMS)}
        near = [each for each in earlier[-LATELY:] if each.partition == partition]
        if near and chance.random() < DEPENDENT:
            found["depends_on"] = [{"recipe_set": chance.choice(near).number}]
        yield found


def _with_locks(recipe_set: dict[str, Any], chance: Random) -> dict[str, Any]:
    recipe_set = {**recipe_set, "preemptible": chance.random() < PREEMPTIBLE}
    if chance.random() >= LOCKED:
        return recipe_set
    return {**recipe_set, "recipes": [{**each, "locks": _locks(chance)} for each in recipe_set["recipes"]]}


def _locks(chance: Random) -> dict[str, Any]:
    if chance.random() < WHOLE_LAB / LOCKED:
        return {"whole_lab": True}
    names = chance.sample(NETWORKS, chance.randint(1, 2))
    declared: tuple[dict[str, Any], ...] = (
        {"network": {"Exclusive": names}},
        {"network": {"Shared": names}},
        {"network": "AllShared"},
        {"system": {"Exclusive": ["$system"]}, "pool": {"Shared": ["$pools"]}},
    )
    return chance.choice(declared)


class Ruler:
    """An admin who puts one rule after another for a moment. Every rule comes once before any is repeated."""

    def __init__(self, chance: Random) -> None:
        self.put_count = 0
        self._rules = shuffled_rounds(chance, RULES)

    def rule(self, person: SoakUser) -> None:
        next(self._rules)(person, person.chance)
        person.pause(person.chance.uniform(*RULE_SECONDS))
        lift_rules(person)
        self.put_count += 1
        person.pause(person.chance.uniform(*QUIET_SECONDS))


def lift_rules(person: SoakUser) -> None:
    """Remove the job filter, start `far`, and put the configuration without limits in force."""
    _configure(person, "default", TREE)
    _move(person, "start")
    done = person.write("DELETE", FILTER, None)
    if done is not None and done[0]["removed"]:
        topic = "partition.job-filter-removed"
        person.book.note(Acknowledged(done[1], "partition/default", (topic,)))


def _pause(person: SoakUser, chance: Random) -> None:
    _put_filter(person, {"predicate": BELOW_URGENT, "action": "PAUSE", "reason": "a pause"})


def _limit_rate(person: SoakUser, chance: Random) -> None:
    limit = chance.choice(MAX_PLACED)
    _put_filter(person, {"predicate": BELOW_URGENT, "action": "RATE_LIMIT", "limit": limit})


def _limit_placed(person: SoakUser, chance: Random) -> None:
    _configure(person, "default", {**TREE, "limits": {"placed_recipes": chance.choice(MAX_PLACED)}})


def _remove_queues(person: SoakUser, chance: Random) -> None:
    _configure(person, "default", {})


def _stop(person: SoakUser, chance: Random) -> None:
    _move(person, "stop")


RULES: tuple[Rule, ...] = (_pause, _limit_rate, _limit_placed, _remove_queues, _stop)


def _put_filter(person: SoakUser, document: dict[str, Any]) -> None:
    answer, position = person.write("PUT", FILTER, document, overtaken=())
    _note(person, "default", "partition.job-filter-put", answer, position)


def _configure(person: SoakUser, partition: str, document: dict[str, Any]) -> None:
    path = f"/partitions/{partition}/configuration"
    answer, position = person.write("PUT", path, document, overtaken=())
    _note(person, partition, "partition.configured", answer, position)


def _move(person: SoakUser, move: str) -> None:
    answer, position = person.write("POST", f"/partitions/{FAR}/{move}", None, overtaken=())
    _note(person, FAR, "partition.state-changed", answer, position)


def _note(person: SoakUser, partition: str, topic: str, answer: Any, position: int) -> None:
    """Note an event unless nothing changed, as when the request is repeated."""
    if answer["changed"] or answer.get("added"):
        person.book.note(Acknowledged(position, f"partition/{partition}", (topic,)))
