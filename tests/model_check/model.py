"""The world of one case: a log in memory, the production partition, and the recipe set of each job."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from domain.access.policy import Form
from domain.events import Recorded
from domain.recipe.lifecycle import FINISHED
from domain.recipe.state import Recipe
from domain.scheduling.world.wake_ups import TRIGGER_RULES, TriggerRule
from tests.domain.scheduling.policies import everybody, group
from tests.domain.scheduling.world import World
from tests.model_check.case import GROUP, SUBMITTER, LabCase, RecipeWant


class ModelWorld(World):
    """The state of a case. Mutable; `Copier` copies it. `sets_of` has the last recipe set of each job."""

    def __init__(self, case: LabCase, rules: Iterable[TriggerRule] = TRIGGER_RULES) -> None:
        super().__init__(rules)
        self.case = case
        self.wants: dict[int, RecipeWant] = {}
        self.sets_of: dict[int, int] = {}
        self.story: tuple[Any, ...] = ()
        # The present batch, and the recipes that became assigned in it.
        self.batch = 0
        self.newly_assigned: frozenset[int] = frozenset()
        # The present submit entries by system or pool, and the borrowers of systems.
        self.entries: dict[str, tuple[Form, ...]] = {}
        self.borrowers: dict[str, str] = {}
        for lab in case.labs:
            self.add_lab(lab)
        self.put_tree(1, "x86_64", case.labs)
        for name, lab, condition in case.systems:
            if condition != "Absent":
                self.add_system(name, lab, condition)
        self.put_group(GROUP, SUBMITTER)
        for name, maximum in case.maxima:
            self.open_system(name, group(GROUP), everybody(maximum))
        self.settle()

    def open_system(self, fqdn: str, *entries: Form) -> None:
        super().open_system(fqdn, *entries)
        self.entries[fqdn] = entries

    def open_pool(self, pool: str, *entries: Form) -> None:
        super().open_pool(pool, *entries)
        self.entries[pool] = entries

    def lend(self, fqdn: str, user: str, until: str | None = None) -> None:
        super().lend(fqdn, user, until)
        self.borrowers[fqdn] = user

    def end_loan(self, fqdn: str) -> None:
        super().end_loan(fqdn)
        del self.borrowers[fqdn]

    def set_condition(self, fqdn: str, condition: str) -> None:
        super().set_condition(fqdn, condition)
        if condition == "Removed":
            # The removal of a system ends its loan.
            self.borrowers.pop(fqdn, None)

    @property
    def is_in_group(self) -> bool:
        """Return whether the submitter is in the group."""
        entry = self.directory.get("group", GROUP)
        return entry is not None and SUBMITTER in entry.document["members"]

    def submit_job(self, number: int) -> None:
        job = self.case.jobs[number]
        whose = {"owner": SUBMITTER, "group": GROUP if job.for_group else None}
        ids = self.submit_set([want.text for want in job.wants], 1, job.priority, **whose)
        self.wants.update(zip(ids, job.wants, strict=True))
        self.sets_of[number] = self.recipes[ids[0]].recipe_set_id

    def recipes_of(self, number: int) -> list[Recipe]:
        """Return the recipes of a job, in order; none if it is not submitted, or has ended."""
        set_id = self.sets_of.get(number)
        recipes = [self.recipes[each] for each in self.sets[set_id].recipe_ids] if set_id else []
        return [] if all(recipe.state in FINISHED for recipe in recipes) else recipes

    def unread(self) -> Unread:
        """Stop the scheduler from reading until the result is passed to `read`."""
        held = Unread(self.partition)
        self.partition = held  # type: ignore[assignment]
        return held

    def read(self, held: Unread) -> None:
        self.partition = held.partition
        for recorded in held.rows:
            self.partition.apply(recorded)


class Unread:
    """A stand-in for a partition while its process waits for the answer to an append."""

    def __init__(self, partition: Any) -> None:
        self.partition = partition
        self.position = partition.position
        self.rows: list[Recorded] = []

    def apply(self, recorded: Recorded) -> None:
        self.rows.append(recorded)


def key_of(world: ModelWorld) -> tuple[Any, ...]:
    """Return the key of a quiet world; worlds with equal keys are the same state."""
    jobs = [world.recipes_of(number) for number in range(len(world.case.jobs))]
    there = [world.sets[recipes[0].recipe_set_id] for recipes in jobs if recipes]
    order = sorted(range(len(there)), key=lambda place: there[place].submission)
    systems = world.systems.values()
    return (
        tuple(
            tuple((_state(recipe), recipe.system, recipe.lab_controller) for recipe in job) for job in jobs
        ),
        tuple(order),
        tuple(recipe_set.priority for recipe_set in there),
        tuple((each.usage, each.condition, each.lab_controller) for each in systems),
        tuple((each.draining, each.reservation is None) for each in systems),
        tuple(each.inventory["memory_mb"] for each in systems),
        tuple(world.directory.pools_of(each.fqdn) for each in systems),
        tuple(each.owner for each in systems),
        (repr(sorted(world.entries.items())), repr(sorted(world.borrowers.items())), world.is_in_group),
        tuple((world.directory.is_enabled(lab), world.directory.is_silent(lab)) for lab in world.case.labs),
        tuple(sorted(lab for _, tree in world.directory.trees() for lab in tree["urls"])),
    )


def _state(recipe: Recipe) -> str:
    return "finished" if recipe.state in FINISHED else recipe.state
