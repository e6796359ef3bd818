"""The world of one case: a log in memory, the production partition, and the recipe set of each job."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any

from domain.access.policy import Form
from domain.contention.weights import WeightSettings, ticks
from domain.directory.partitions import number_of_lab
from domain.events import Recorded
from domain.recipe.events import RecipeQueued
from domain.recipe.lifecycle import FINISHED, UNPLACED
from domain.recipe.state import Recipe
from domain.recipe_set.messages import ReportInstalling, ReportTaskRunning
from domain.scheduling.decisions.draft import with_batch
from domain.scheduling.decisions.preemption import preempt
from domain.scheduling.world.lab_moves import History
from domain.scheduling.world.trigger_rules import TriggerRule
from domain.scheduling.world.wake_ups import TRIGGER_RULES
from domain.system.state import System
from tests.domain.scheduling.policies import everybody, group
from tests.domain.scheduling.world import World
from tests.model_check.case import GROUP, SUBMITTER, LabCase, RecipeWant

DEFAULTS = WeightSettings()


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
        # Whether a job filter pauses the jobs of the group, and the set that each dependent set awaits.
        self.is_paused = False
        self.awaited: dict[int, int] = {}
        # How often sets were overtaken, by set.
        self.overtaken: dict[int, int] = {}
        # How often sets that wait for locks were overtaken, and the sets in a bucket with its limit.
        self.overtaken_for_locks: dict[int, int] = {}
        self.buckets: dict[int, int] = {}
        self.queue_of: dict[int, str] = {}
        self.max_placed = case.max_placed
        # Victim and taking set of each preemption.
        self.preempted: dict[tuple[int, int], None] = {}
        if self._sections():
            self.configure(**self._sections())
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

    @property
    def systems_here(self) -> Mapping[str, System]:
        """Return the systems in the labs of the partition that decides."""
        return self.systems

    def is_here(self, recipe: Recipe) -> bool:
        """Return whether a recipe is in the partition that decides."""
        return True

    def turns(self) -> Iterator[None]:
        """Let each partition be the one that decides, one after another."""
        yield

    def partitions_at_odds(self) -> Iterator[str]:
        """Yield systems that are in two partitions, or have a recipe of another one."""
        yield from ()

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
        awaited = None if job.after is None else self.sets_of[job.after]
        on = [] if awaited is None else [{"recipe_set": awaited, "states": sorted(FINISHED)}]
        reasons = [] if job.bucket is None else [f"rate-limit:{job.bucket}:bucket"]
        ids = self.submit_set(
            [want.text for want in job.wants],
            1,
            job.priority,
            submitted={
                "depends_on": on,
                "reasons": reasons,
                "queue": f"root.{job.queue}",
                "preemptible": job.preemptible,
            },
            locks_of=[want.declared for want in job.wants],
            **whose,
        )
        self.wants.update(zip(ids, job.wants, strict=True))
        self.sets_of[number] = self.recipes[ids[0]].recipe_set_id
        if awaited is not None:
            self.awaited[self.sets_of[number]] = awaited

        self.queue_of[self.sets_of[number]] = job.queue
        if job.bucket is not None:
            self.buckets[self.sets_of[number]] = job.bucket

    def want(self, recipe_id: int, name: str) -> None:
        """Change a recipe so that it wants this system only, with the same locks."""
        self.wants[recipe_id] = RecipeWant((name,), locks=self.wants[recipe_id].locks)
        self.change_recipe(recipe_id, host_requires=self.wants[recipe_id].text)

    def _sections(self) -> dict[str, Any]:
        """Return the sections of the configuration that differ from the defaults."""
        bound = {} if self.case.max_overtaken is None else {"most_overtaken": self.case.max_overtaken}
        sections: dict[str, Any] = {"order": bound, "locks": bound} if bound else {}
        if self.case.coefficient is not None:
            sections["weights"] = {"coefficient": self.case.coefficient}
        elif self.case.has_locks:
            sections["weights"] = {"enabled": False}
        if self.max_placed is not None:
            sections["limits"] = {"placed_recipes": self.max_placed}
        if self.case.queues or self.case.shares is not None:
            sections["queues"] = _queue_section(self.case)
        if self.case.shares:
            at_once = {"after_seconds": 0, "again_after_seconds": 0, "most_per_job": 2}
            sections["preemption"] = {"enabled": True, **at_once}
        return sections

    def preempt(self) -> None:
        """Let sets of queues below their guarantee take systems, as the consistency loop does."""
        self.partition.begin_tentative(self.now)
        made = with_batch(self.partition, list(preempt(self.partition, self.now)))
        for decision in made:
            events = [event for _, event in decision.events if isinstance(event, RecipeQueued)]
            taking = events[0].preempted_by
            assert taking is not None, "a preemption has victims"
            for subject, event in decision.events:
                if isinstance(event, RecipeQueued):
                    victim = self.recipes[int(subject.partition("/")[2])].recipe_set_id
                    self.preempted[victim, taking] = None
        if made:
            self.commit_decisions(made, self.partition.position)

    def run(self, recipe_id: int) -> None:
        """Let the first task of a recipe run."""
        self.report(recipe_id, ReportInstalling())
        self.report(recipe_id, ReportTaskRunning(self.recipes[recipe_id].tasks[0].task_id))

    def limit(self, max_placed: int | None) -> None:
        """Change the maximum of placed recipes."""
        self.max_placed = max_placed
        self.configure(**self._sections())

    @property
    def has_weights(self) -> bool:
        """Return whether locks have weights; without locks, submission alone decides."""
        return self.case.has_locks and self.case.coefficient is not None

    @property
    def coefficient(self) -> int:
        """Return the number of ticks after which a set weighs 0."""
        return DEFAULTS.coefficient if self.case.coefficient is None else self.case.coefficient

    def age(self, set_id: int) -> int:
        """Return the ticks since the submission of a set, at most the coefficient."""
        submitted_at = self.sets[set_id].submitted_at
        assert submitted_at is not None, f"set {set_id} was submitted"
        return min(ticks(submitted_at, self.now, DEFAULTS.tick_milliseconds), self.coefficient)

    def tick(self, count: int) -> None:
        """Let some ticks pass."""
        self.now += count * timedelta(milliseconds=DEFAULTS.tick_milliseconds)

    def pause(self, name: str) -> None:
        """Put a job filter that pauses the jobs of a group."""
        self.put_job_filter(name, "PAUSE", predicate={"field": "group", "op": "=", "value": name})
        self.is_paused = True

    def resume(self, name: str) -> None:
        self.remove_job_filter(name)
        self.is_paused = False

    def has_ended(self, set_id: int) -> bool:
        return all(self.recipes[each].state in FINISHED for each in self.sets[set_id].recipe_ids)

    def recipes_of(self, number: int) -> list[Recipe]:
        """Return the recipes of a job, in order; none if it is not submitted, or has ended."""
        set_id = self.sets_of.get(number)
        if not set_id or self.has_ended(set_id):
            return []
        return [self.recipes[each] for each in self.sets[set_id].recipe_ids]

    def unread(self) -> Unread:
        """Stop the scheduler from reading until the result is passed to `read`."""
        held = Unread(self.partition)
        self.partition = held  # type: ignore[assignment]
        return held

    def read(self, held: Unread) -> None:
        self.partition = held.partition
        for recorded in held.rows:
            self.feed(self.partition, recorded)


def _queue_section(case: LabCase) -> dict[str, Any]:
    """Return the tree of the queues of a case, at most two levels below root."""
    children: dict[str, dict[str, Any]] = {}
    for path in sorted({*(path for path, _, _ in case.queues), *(job.queue for job in case.jobs)}):
        parent, _, leaf = path.partition(".")
        above = children.setdefault(parent, {"name": parent})
        if leaf:
            above.setdefault("queues", []).append({"name": leaf})
    for path, unit, capacity in case.queues:
        parent, _, leaf = path.partition(".")
        found = children[parent]
        if leaf:
            (found,) = (each for each in found["queues"] if each["name"] == leaf)
        found["max" if unit == "systems" else "max_jobs"] = capacity
    if case.shares is None:
        return {"queues": list(children.values())}
    for path, count in case.shares:
        children[path]["guaranteed"] = count
    queues = [{**each, "order": "fair"} if "queues" in each else each for each in children.values()]
    return {"order": "fair", "queues": queues}


class Unread:
    """A stand-in for a partition while its process waits for the answer to an append."""

    def __init__(self, partition: Any) -> None:
        self.partition = partition
        self.position = partition.position
        self.identity = partition.identity
        # Requests that change recipes look at the systems of the basis.
        self.labs = partition.labs
        self.rows: list[Recorded] = []

    def apply(self, recorded: Recorded, _: History) -> None:
        self.rows.append(recorded)


def key_of(world: ModelWorld) -> tuple[Any, ...]:
    """Return the key of a quiet world; worlds with equal keys are the same state."""
    jobs = [world.recipes_of(number) for number in range(len(world.case.jobs))]
    there = [world.sets[recipes[0].recipe_set_id] for recipes in jobs if recipes]
    order = sorted(range(len(there)), key=lambda place: there[place].submission)
    systems = world.systems.values()
    return (
        tuple(
            tuple(
                (
                    (_state(each), each.system, each.lab_controller, each.held, each.claim is None),
                    world.wants[each.recipe_id],
                )
                for each in job
            )
            for job in jobs
        ),
        tuple(order),
        tuple(recipe_set.priority for recipe_set in there),
        (world.is_paused, tuple(_awaits(world, recipe_set.recipe_set_id) for recipe_set in there)),
        tuple((each.usage, each.condition, each.lab_controller) for each in systems),
        tuple((each.draining, each.occupied is None, each.reservation is None) for each in systems),
        tuple(each.inventory["memory_mb"] for each in systems),
        tuple(world.directory.pools_of(each.fqdn) for each in systems),
        tuple(each.owner for each in systems),
        (repr(sorted(world.entries.items())), repr(sorted(world.borrowers.items())), world.is_in_group),
        tuple((world.directory.is_enabled(lab), world.directory.is_silent(lab)) for lab in world.case.labs),
        tuple(sorted(lab for _, tree in world.directory.trees() for lab in tree["urls"])),
        (world.max_placed, *(world.overtaken_for_locks.get(each.recipe_set_id, 0) for each in there)),
        () if world.case.max_overtaken is None else tuple(_overtaken(world, job) for job in jobs),
        () if world.case.coefficient is None else tuple(_age(world, job) for job in jobs),
        tuple(number_of_lab(world.directory, lab) for lab in world.case.labs),
        _preemptions(world),
    )


def _preemptions(world: ModelWorld) -> tuple[Any, ...]:
    """Return the jobs that have preempted each other, and how often each has given way."""
    number_of = {set_id: number for number, set_id in world.sets_of.items()}
    pairs = [(number_of.get(one), number_of.get(other)) for one, other in world.preempted]
    counts = world.partition.sets.preemptions.of_job if world.preempted else {}
    of_jobs = {world.sets[set_id].job_id: number for set_id, number in number_of.items()}
    return (
        tuple(sorted(pair for pair in pairs if None not in pair)),  # type: ignore[type-var]
        tuple(sorted((of_jobs[job_id], count) for job_id, count in counts.items() if job_id in of_jobs)),
    )


def _awaits(world: ModelWorld, set_id: int) -> bool:
    """Return whether a set depends on one that has not ended."""
    awaited = world.awaited.get(set_id)
    return awaited is not None and not world.has_ended(awaited)


def waits_for_systems(job: list[Recipe]) -> bool:
    return any(recipe.state in UNPLACED for recipe in job)


def _overtaken(world: ModelWorld, job: list[Recipe]) -> int:
    """Return how often the set of a job was overtaken, 0 once all its recipes have started."""
    return world.overtaken.get(job[0].recipe_set_id, 0) if waits_for_systems(job) else 0


def _age(world: ModelWorld, job: list[Recipe]) -> int:
    """Return the age of the set of a job, 0 once all its recipes have systems."""
    return world.age(job[0].recipe_set_id) if waits_for_systems(job) else 0


def _state(recipe: Recipe) -> str:
    return "finished" if recipe.state in FINISHED else recipe.state
