"""A long queue for a generated lab: many recipes with few distinct filters, each satisfied by a system."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any

from replay.workload.generated_conditions import leaf
from replay.workload.generated_jobs import PRIORITIES, PRIORITY_SHARES, Fitting
from replay.workload.generated_requirements import distro_requires, host_requires

Document = dict[str, Any]

TASK = {"name": "/distribution/check-install", "params": {}}


@dataclass(frozen=True)
class GeneratedFilter:
    """The requirements of a recipe, and the lab controller of a system that satisfies them."""

    host_requires: Document
    distro_requires: Document
    lab_controller: str

    @cached_property
    def recipe(self) -> Document:
        return {"host_requires": self.host_requires, "distro_requires": self.distro_requires, "tasks": [TASK]}


def all_at_work(lab: Document) -> Document:
    """Return the lab with every system Automated, so that a benchmark measures the scheduler alone."""
    systems = [{**system, "condition": "Automated", "type": "Machine"} for system in lab["systems"]]
    return {**lab, "systems": systems}


def generate_filters(lab: Document, seed: int, count: int) -> list[GeneratedFilter]:
    """Return `count` distinct filters: each an arch, up to three conditions and a memory limit."""
    fitting, chance = Fitting(lab), Random(f"filters/{seed}")
    found: dict[str, GeneratedFilter] = {}
    while len(found) < count:
        system = chance.choice(fitting.usable)
        conditions = host_requires(system, chance)["and"]
        bound = leaf("memory", "<=", system["memory_mb"] + chance.randrange(200_000))
        host = {"and": [*conditions, bound]}
        distro = distro_requires(chance.choice(fitting.trees(system)))
        found.setdefault(repr(host), GeneratedFilter(host, distro, system["lab_controller"]))
    return list(found.values())


def generate_sets(
    filters: Sequence[GeneratedFilter], seed: int, sizes: Sequence[int], priority: str | None = None
) -> Iterator[Document]:
    """Yield recipe sets without end, each of a size drawn from `sizes`, its recipes from one lab.

    Their priorities are drawn with `PRIORITY_SHARES`, unless one is given.
    """
    chance = Random(f"queue/{seed}")
    by_lab: dict[str, list[GeneratedFilter]] = {}
    for each in filters:
        by_lab.setdefault(each.lab_controller, []).append(each)
    while True:
        candidates = by_lab[chance.choice(filters).lab_controller]
        recipes = [chance.choice(candidates).recipe for _ in range(chance.choice(sizes))]
        chosen = priority or chance.choices(PRIORITIES, PRIORITY_SHARES)[0]
        yield {"priority": chosen, "recipes": recipes}
