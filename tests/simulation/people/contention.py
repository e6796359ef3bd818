"""Contention in a seed: locks, dependencies and buckets of jobs, and an admin who changes the rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from random import Random
from typing import Any, Final

from api.use_cases.change_partition import put_job_filter, remove_job_filter
from domain.admission.configuration import Configuration, stored_configuration
from domain.admission.dependencies import FINAL_STATES
from domain.admission.job_filters import ACCEPT, CONTINUE, PAUSE, RATE_LIMITED, REJECT, stored_job_filter
from domain.priority import Priority
from domain.queues.tree import ORDERS_OF_LEAVES, ORDERS_OF_PARENTS
from tests.simulation.machine.strands import current
from tests.simulation.people.actor import Act, Actor
from tests.simulation.people.partitions import reconfigure

NETWORKS: Final = ("n1", "n2")
LABELS: Final = ("array", "array", "switch")
RULES: Final = ("day", "night")
HOUR: Final = 3600.0


def contended(job: dict[str, Any], dice: Random, earlier: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return a job with locks, perhaps preemptible sets, a bucket, and a dependency on an `earlier` job."""
    found = {**job, "recipe_sets": [_with_locks(each, dice) for each in job["recipe_sets"]]}
    if dice.random() < 0.6:
        found["reasons"] = [f"rate-limit:{dice.choice((1, 1, 2))}:{dice.choice(LABELS)}"]
    if earlier and dice.random() < 0.3:
        named, states = dice.choice(earlier[-5:]), dice.sample(FINAL_STATES, dice.randint(1, 3))
        sets = [{"recipe_set": number} for number in named["recipe_set_ids"][:1]]
        number = dice.choice(({"job": named["job_id"]}, *sets))
        found["depends_on"] = [{**number, "states": states}]
    return found


def _with_locks(recipe_set: dict[str, Any], dice: Random) -> dict[str, Any]:
    recipes = [{**each, **_locks(dice)} for each in recipe_set["recipes"]]
    # Sets of equal priority may preempt each other.
    priority = {"priority": "Normal"} if dice.random() < 0.5 else {}
    return {**recipe_set, **priority, "recipes": recipes, "preemptible": dice.random() < 0.7}


def _locks(dice: Random) -> dict[str, Any]:
    if dice.random() < 0.04:
        return {"locks": {"whole_lab": True}}
    networks = dice.sample(NETWORKS, dice.randint(1, 2))
    locks: tuple[dict[str, Any], ...] = (
        {},
        {"network": {"Exclusive": networks}},
        {"network": {"Shared": networks}},
        {"network": "AllShared", "system": {"Exclusive": ["$system"]}},
        {"pool": {"Shared": ["$pools"]}, "guest": "UnknownExclusive"},
    )
    return {"locks": dice.choice(locks)}


class RuleMaker(Actor):
    """An admin who replaces the configuration again and again, and puts job filters for a while."""

    def kinds(self) -> tuple[Callable[[], Iterator[tuple[float, Act]]], ...]:
        return self._job_filter, self._job_filter, self._configuration

    def run(self, per_hour: float) -> None:
        # The service is ready by then.
        current().wait(HOUR / 20)
        partition = self.dice.choice(self.partitions)
        document = {**self._urgent_queue(), "preemption": {"enabled": True, "after_seconds": 0}}
        self.ask(f"configures {partition}: {document}", _configuring(partition, document))
        super().run(per_hour)

    def tidy_up(self) -> None:
        for partition in self.partitions:
            for name in RULES:
                self.ask(*_removal(partition, name))
            self.ask(f"resets the configuration of {partition}", _configuring(partition, {}))

    def _job_filter(self) -> Iterator[tuple[float, Act]]:
        partition = self.dice.choice(self.partitions)
        name, action = self.dice.choice(RULES), self.dice.choice(ACTIONS)
        limit = {"limit": self.dice.randint(1, 3)} if action == RATE_LIMITED else {}
        document = {"action": action, "predicate": self._predicate(), "watermark": 0, **limit}
        put = partial(put_job_filter, name=partition, wanted=stored_job_filter(name, document))
        yield 0.0, (f"puts the job filter {name} of {partition}: {action}", _committed(put))
        if self.dice.random() < 0.8:
            yield self.later(), _removal(partition, name)

    def _predicate(self) -> dict[str, Any] | None:
        predicates = (
            None,
            {"field": "user", "op": "=", "value": self.dice.choice(self.lab["users"])["name"]},
            {"field": "priority", "op": "<=", "value": self.dice.choice(list(Priority)).name},
            {"field": "job_id", "op": ">", "value": "watermark"},
        )
        return self.dice.choice(predicates)

    def _configuration(self) -> Iterator[tuple[float, Act]]:
        partition = self.dice.choice(self.partitions)
        document = {
            "limits": {"placed_recipes": self.dice.choice((None, 1, 2, 4))},
            "locks": {"most_overtaken": self.dice.choice((0, 1, 8))},
            "weights": {"enabled": self.dice.random() < 0.8},
            "order": {"assigned_first": self.dice.choice(("within_priority", "always"))},
            "claims": {
                "after_ticks": self.dice.choice((None, 0, 10)),
                "for_ticks": self.dice.choice((1, 20, 120)),
            },
            "preemption": {
                "enabled": self.dice.random() < 0.9,
                "after_seconds": self.dice.choice((0, 0, 30, 600)),
                "most_per_job": self.dice.choice((1, 3)),
            },
            **self._queues(),
        }
        # It stays until the next one: preemption needs time for queues to get more than their guarantees.
        chosen = document if self.dice.random() < 0.85 else {}
        yield 0.0, (f"configures {partition}: {chosen}", _configuring(partition, chosen))

    def _queues(self) -> dict[str, Any]:
        """Return a tree of queues, and placement by the owner of a job, or nothing."""
        kinds: tuple[Callable[[], dict[str, Any]], ...] = (self._urgent_queue, self._queues_of_people)
        return self.dice.choice((dict, self._urgent_queue, *kinds))()

    def _urgent_queue(self) -> dict[str, Any]:
        """Return a guarantee for the jobs of two users, whose sets preempt those of all others."""
        urgent = {"name": "urgent", "guaranteed": self.dice.randint(1, 4), "fence": self.dice.random() < 0.1}
        rule = {"rule": "fixed", "value": "root.urgent", "filter": self._two_users()}
        return {
            "queues": {"queues": [urgent, {"name": "default"}]},
            "placement": [rule, {"rule": "provided"}],
        }

    def _two_users(self) -> dict[str, Any]:
        # The first ones submit jobs.
        names = [user["name"] for user in self.lab["users"][:3]]
        return {"users": self.dice.sample(names, 2), "allow": self.dice.random() < 0.5}

    def _queues_of_people(self) -> dict[str, Any]:
        template = {
            "max": self.dice.choice((None, 1, 2)),
            "guaranteed": self.dice.choice((None, 1)),
            "order": self.dice.choice(ORDERS_OF_LEAVES),
        }
        people = {"name": "people", "template": template, "queues": [], **self._turn()}
        default = {"name": "default", "max_jobs": self.dice.choice((None, 2)), **self._turn()}
        tree = {"order": self.dice.choice(ORDERS_OF_PARENTS), "queues": [people, default]}
        rule = {"rule": "user", "create": True, "parent": {"rule": "fixed", "value": "root.people"}}
        return {"queues": tree, "placement": [{**rule, "filter": self._two_users()}]}

    def _turn(self) -> dict[str, Any]:
        guaranteed = self.dice.choice((None, 1, 2))
        return {
            "guaranteed": guaranteed,
            "priority_offset": self.dice.randint(-1, 1),
            "fence": self.dice.random() < 0.2,
        }


ACTIONS: Final = (ACCEPT, CONTINUE, PAUSE, PAUSE, REJECT, RATE_LIMITED, RATE_LIMITED)


def _removal(partition: str, job_filter: str) -> Act:
    remove = partial(remove_job_filter, name=partition, job_filter=job_filter)
    return f"removes the job filter {job_filter} of {partition}", remove


def _configuring(partition: str, document: dict[str, Any]) -> Callable[..., Any]:
    """Return the use case that puts a configuration, and leaves the labs as they are."""
    rules = stored_configuration(document)

    def put(before: Configuration) -> Configuration:
        return rules._replace(lab_controllers=before.lab_controllers)

    return partial(reconfigure, name=partition, change=put)


def _committed(put: Callable[..., Any]) -> Callable[..., Any]:
    """Return a use case that returns only the commit of another one."""

    async def use_case(*parts_and_request: Any) -> Any:
        _, done = await put(*parts_and_request)
        return done

    return use_case
