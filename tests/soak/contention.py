"""Contention in the soak: locks, dependencies and buckets of jobs, and an admin who changes the rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from tests.soak.book import Acknowledged
from tests.soak.people import LATELY, SetOf, SoakUser

NETWORKS = ("n1", "n2", "n3")
BUCKETS = ("rate-limit:1:array", "rate-limit:2:switch")
# Shares of the jobs with each.
LOCKED, WHOLE_LAB, IN_BUCKET, DEPENDENT = 0.4, 0.02, 0.1, 0.15
# Longer than the scheduler takes to obey a rule, and short beside the time limit of a recovery.
RULE_SECONDS, QUIET_SECONDS = (1.0, 5.0), (1.0, 6.0)
PARTITION = "partition/default"
FILTER, CONFIGURATION = "/filters/soak", "/partitions/default/configuration"
# The probe is Urgent, so that no job filter delays it.
BELOW_URGENT = {"field": "priority", "op": "<", "value": "Urgent"}
# Of 24 systems.
MAX_PLACED = (4, 8, 16)

Rule = tuple[str, dict[str, Any]]
"""The path and the document of a job filter or a configuration."""


def contended(
    jobs: Iterator[dict[str, Any]], chance: Random, earlier: Sequence[SetOf]
) -> Iterator[dict[str, Any]]:
    """Yield the jobs with locks, buckets, and dependencies on `earlier` recipe sets, a share of them each."""
    for job in jobs:
        found = {**job, "recipe_sets": [_with_locks(each, chance) for each in job["recipe_sets"]]}
        if chance.random() < IN_BUCKET:
            found["reasons"] = [chance.choice(BUCKETS)]
        if earlier and chance.random() < DEPENDENT:
            found["depends_on"] = [{"recipe_set": chance.choice(earlier[-LATELY:])[0]}]
        yield found


def _with_locks(recipe_set: dict[str, Any], chance: Random) -> dict[str, Any]:
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


def ruling(person: SoakUser) -> None:
    """Put a rule for a moment: a job filter, or a maximum number of placed recipes."""
    path, document = _rule(person.chance)
    _put(person, path, document)
    person.pause(person.chance.uniform(*RULE_SECONDS))
    lift_rules(person)
    person.pause(person.chance.uniform(*QUIET_SECONDS))


def _rule(chance: Random) -> Rule:
    rules: tuple[Rule, ...] = (
        (FILTER, {"predicate": BELOW_URGENT, "action": "PAUSE", "reason": "a pause"}),
        (FILTER, {"predicate": BELOW_URGENT, "action": "RATE_LIMIT", "limit": chance.choice(MAX_PLACED)}),
        (CONFIGURATION, {"limits": {"placed_recipes": chance.choice(MAX_PLACED)}}),
    )
    return chance.choice(rules)


def lift_rules(person: SoakUser) -> None:
    """Remove the job filter, and put the configuration without limits in force."""
    _put(person, CONFIGURATION, {})
    done = person.write("DELETE", FILTER, None)
    if done is not None and done[0]["removed"]:
        person.book.note(Acknowledged(done[1], PARTITION, ("partition.job-filter-removed",)))


def _put(person: SoakUser, path: str, document: dict[str, Any]) -> None:
    """Put a document, and note it unless its content was in force, as when the request is repeated."""
    answer, position = person.write("PUT", path, document, overtaken=())
    topic = "partition.job-filter-put" if path == FILTER else "partition.configured"
    if answer["changed"] or answer.get("added"):
        person.book.note(Acknowledged(position, PARTITION, (topic,)))
