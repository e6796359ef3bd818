"""A lab whose jobs are in queues: submissions, and what queues use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.world import World

NAMES = "abcdefgh"


def queues(lab: World, *children: dict[str, Any], **root: Any) -> None:
    sections = {"order": root.pop("assigned", {})}
    lab.configure(queues={**root, "queues": list(children)}, **sections)
    lab.settle()


def submit(lab: World, queue: str, fqdns: str = NAMES, count: int = 1, **new: Any) -> list[int]:
    return [lab.submit(named(*fqdns), submitted={"queue": queue}, **new) for _ in range(count)]


def used(lab: World) -> Counter[str]:
    """Return the number of systems by leaf, counted from the recipes."""
    sets = lab.partition.sets
    return Counter(
        sets.sets[sets.recipes[each.recipe_id].recipe_set_id].submitted.queue for each in lab.placed()
    )


def served(lab: World, since: int) -> list[int]:
    """Return the recipes that got a system after a position, in order."""
    rows = (row for row in lab.log if row.position > since and row.event.TOPIC == "recipe.scheduled")
    return [int(row.subject.partition("/")[2]) for row in rows]


def end_one_by_one(lab: World, chance: Random, count: int) -> Iterator[None]:
    """End recipes at random, also several at once, and yield after the answer of the scheduler."""
    for _ in range(count):
        for each in chance.sample(lab.placed(), chance.choice((1, 1, 2, 3))):
            if lab.states(each.recipe_id) == ["waiting"]:
                lab.complete(each.recipe_id)
        lab.settle()
        yield


def wake(lab: World, *fqdns: str) -> list[int]:
    """Let systems come free at once by a wake-up of their lab; return the recipes that get one, in order."""
    since = lab.log[-1].position
    lab.enable("lab-1", False)
    for fqdn in fqdns:
        lab.undrain(fqdn)
    lab.settle()
    lab.enable("lab-1", True)
    lab.settle()
    return served(lab, since)


def close(lab: World, *fqdns: str) -> None:
    for fqdn in fqdns:
        lab.drain(fqdn)
    lab.settle()
