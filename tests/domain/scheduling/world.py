"""A log in memory, and what follows from it: once in a partition, once in plain dictionaries without indexes.

The dictionaries are what the reference scheduler and the invariants look at, so that a fault in an index of
the partition cannot hide itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from domain.directory import events as directory
from domain.events import Event, Recorded, Stamp, split_subject
from domain.job.events import RecipeSetSubmitted
from domain.recipe.cancellation import cancel
from domain.recipe.lifecycle import FINISHED
from domain.recipe.reports import (
    Report,
    ReportAborted,
    ReportCompleted,
    ReportInstalling,
    ReportTaskEnded,
    ReportTaskRunning,
    report,
)
from domain.recipe.state import Recipe
from domain.recipe.state import evolve as evolve_recipe
from domain.scheduling.decide import Decided, Decision, decide
from domain.scheduling.partition import Partition
from domain.system.registration import register
from domain.system.state import System
from domain.system.state import evolve as evolve_system
from tests.domain.recipe.made import recipe_new

BEGINNING = datetime(2024, 1, 1, tzinfo=UTC)


class World:
    """Mutable. Every change goes through `commit`, as it would in the real log."""

    def __init__(self) -> None:
        self.log: list[Recorded] = []
        self.partition = Partition()
        self.systems: dict[str, System] = {}
        self.recipes: dict[int, Recipe] = {}
        self.sets: dict[int, tuple[int, tuple[int, ...]]] = {}
        self.trees: dict[int, dict[str, Any]] = {}
        self.pools: dict[str, list[str]] = {}
        self.enabled: dict[str, bool] = {}
        self._versions: dict[str, int] = {}

    # The log

    @property
    def position(self) -> int:
        return self.log[-1].position if self.log else 0

    def commit(self, decided: Iterable[tuple[str, Event]]) -> None:
        rows = list(decided)
        # Positions have gaps, as those of the real log do.
        first = self.position + 1 + len(self.log) % 3
        for offset, (subject, event) in enumerate(rows):
            version = self._versions[subject] = self._versions.get(subject, 0) + 1
            recorded = Recorded(
                position=first + offset,
                commit_end=first + len(rows) - 1,
                recorded_at=BEGINNING + timedelta(seconds=first),
                subject=subject,
                version=version,
                event=event,
                stamp=Stamp(BEGINNING, "test", "request/test"),
            )
            self.log.append(recorded)
            self._fold(recorded)
            self.partition.apply(recorded)

    def _fold(self, recorded: Recorded) -> None:
        kind, name = split_subject(recorded.subject)
        event, version, position = recorded.event, recorded.version, recorded.position
        if kind == "recipe":
            number = int(name)
            self.recipes[number] = evolve_recipe(self.recipes.get(number), number, event, version, position)
        elif kind == "system":
            self.systems[name] = evolve_system(self.systems.get(name), name, event, version, position)
        elif isinstance(event, RecipeSetSubmitted):
            self.sets[int(name)] = position, tuple(event.recipe_ids)
        elif isinstance(event, directory.DistroTreeRegistered):
            self.trees[int(name)] = {"arch": event.arch, "family": event.family, "urls": event.urls}
        elif isinstance(event, directory.PoolSystemAdded):
            self.pools.setdefault(event.system, []).append(name)
        elif isinstance(event, directory.PoolSystemRemoved):
            self.pools[event.system].remove(name)
        elif kind == "lab-controller":
            self.enabled[name] = getattr(event, "enabled", isinstance(event, directory.LabControllerEnabled))

    def refolded(self) -> Partition:
        """What a scheduler that has just started makes of the log."""
        partition = Partition()
        for recorded in self.log:
            partition.apply(recorded)
        return partition

    # What people and labs do

    def add_lab(self, name: str, enabled: bool = True) -> None:
        self.commit([(f"lab-controller/{name}", directory.LabControllerRegistered(enabled=enabled))])

    def enable(self, name: str, enabled: bool) -> None:
        event = directory.LabControllerEnabled() if enabled else directory.LabControllerDisabled()
        self.commit([(f"lab-controller/{name}", event)])

    def put_tree(self, tree_id: int, arch: str, labs: Iterable[str], family: str = "Fedora") -> None:
        cls = directory.DistroTreeChanged if tree_id in self.trees else directory.DistroTreeRegistered
        tree = cls(
            name=f"tree-{tree_id}",
            family=family,
            version="40",
            arch=arch,
            variant="Server",
            tags=[],
            urls={lab: [f"http://{lab}/"] for lab in labs},
            added_at="2024-01-01T00:00:00Z",
        )
        self.commit([(f"distro-tree/{tree_id}", tree)])

    def add_system(
        self,
        fqdn: str,
        lab: str = "lab-1",
        condition: str = "Automated",
        pools: Iterable[str] = (),
        **inventory: Any,
    ) -> None:
        described = {"type": "Machine", "arches": ["x86_64"], "memory_mb": 4096, **inventory}
        beside = {"fqdn": fqdn, "lab_controller": lab, "owner": "ada", "condition": condition}
        self.commit(register({**described, **beside, "pools": list(pools)}))

    def add_idle(self, *names: str) -> None:
        for fqdn in names:
            self.add_system(fqdn)
        self.settle()

    def set_pool(self, pool: str, fqdn: str, member: bool) -> None:
        cls = directory.PoolSystemAdded if member else directory.PoolSystemRemoved
        self.commit([(f"pool/{pool}", cls(system=fqdn))])

    def submit(self, host_requires: str, tree_id: int | None = 1, priority: str = "Normal") -> int:
        """A job of one recipe set of one recipe of one task; all three have the same number."""
        number = len(self.recipes) + 1
        submitted = RecipeSetSubmitted(job_id=number, priority=priority, recipe_ids=(number,))
        new = recipe_new(number, priority, host_requires=host_requires, distro_tree_id=tree_id)
        self.commit([(f"recipe-set/{number}", submitted), (f"recipe/{number}", new)])
        return number

    def report(self, recipe_id: int, message: Report) -> None:
        recipe = self.recipes[recipe_id]
        decided = report(recipe, self.systems[recipe.system or ""], message)
        if decided:
            self.commit(decided)

    def complete(self, recipe_id: int) -> None:
        """Everything that a lab controller reports of a recipe that goes well."""
        self.report(recipe_id, ReportInstalling())
        self.report(recipe_id, ReportTaskRunning(recipe_id))
        self.report(recipe_id, ReportTaskEnded(recipe_id, "completed"))
        self.report(recipe_id, ReportCompleted())

    def abort(self, recipe_id: int) -> None:
        self.report(recipe_id, ReportAborted("no power"))

    def cancel(self, recipe_id: int) -> None:
        recipe = self.recipes[recipe_id]
        self.commit(cancel(recipe, self.systems.get(recipe.system or ""), "not needed"))

    # The scheduler

    def decide(self, limit: int = 1) -> list[Decision]:
        """Up to `limit` decisions, which are not in the log yet."""
        try:
            return decide(self.partition, limit)
        finally:
            self.partition.take_back()

    def settle(self, limit: int = 500) -> list[Decided]:
        """Decide and commit until nothing is left to decide."""
        answers: list[Decided] = []
        while decisions := self.decide(limit):
            self.commit(pair for decision in decisions for pair in decision.events)
            answers += [decision.events for decision in decisions]
        return answers

    # Questions

    def in_state(self, *states: str) -> list[Recipe]:
        return [recipe for recipe in self.recipes.values() if recipe.state in states]

    def placed(self) -> list[Recipe]:
        return [r for r in self.recipes.values() if r.system is not None and r.state not in FINISHED]
