"""Random histories of systems, labs and pools, and a plain fold for comparisons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from domain.directory.events import (
    LabControllerDisabled,
    LabControllerEnabled,
    LabControllerPartitionChanged,
    PoolRegistered,
    PoolSystemAdded,
    PoolSystemRemoved,
)
from domain.directory.partitions import number_of_lab
from domain.directory.state import Directory
from domain.events import Event, Moment, Recorded, split_subject
from domain.partition_numbers import DEFAULT_NUMBER, EVERYBODY
from domain.recipe.events import RecipeNew
from domain.system import events as system_events
from domain.system.state import System, evolve
from domain.system.usage import in_idle_pool
from tests.projections.happened import Happened, lab, registered
from tests.projections.projected_log import ProjectedLog

LABS = ("lab-1", "lab-2", "lab-3")
POOLS = ("big", "small")
SYSTEMS = tuple("abcdefgh")
COMMITS = 60
GROUPS = ("system", "lab_controller", "pool", "arch", "owner", "group", "user")
ARCHES: tuple[Any, ...] = (None, [], ["x86_64"], ["x86_64", "x86_64"], ["aarch64", "x86_64"])


class Plain:
    """A fold without tables: systems, labs and pools as they are now."""

    def __init__(self) -> None:
        self.systems: dict[str, System] = {}
        self.directory = Directory()
        self.recipes: dict[int, RecipeNew] = {}

    def apply(self, recorded: Recorded) -> None:
        self.directory.apply(recorded)
        kind, name = split_subject(recorded.subject)
        if kind == "system":
            before = self.systems.get(name)
            self.systems[name] = evolve(before, name, recorded.event, Moment.of(recorded))
        if isinstance(recorded.event, RecipeNew):
            self.recipes[int(name)] = recorded.event

    def groups(self, group_by: str) -> Iterator[tuple[str | None, str, str]]:
        """Yield the group of each system, several times in several groups, with its condition and usage."""
        for fqdn, system in self.systems.items():
            recipe = self.recipes.get(system.recipe_id or 0)
            person = system.reservation and system.reservation.user
            keys: Sequence[str | None] = {
                "system": [fqdn],
                "lab_controller": [system.lab_controller],
                "pool": sorted(self.directory.pools_of(fqdn)),
                "arch": sorted(set(system.inventory.get("arches") or ())),
                "owner": [recipe.owner if recipe else person],
                "group": [recipe and recipe.group],
                "user": [recipe.owner if recipe else person or (system.loan and system.loan.user)],
            }[group_by]
            usage = self._usage(system)
            yield from ((key, system.condition, usage) for key in keys or [None])

    def _usage(self, system: System) -> str:
        """Return the usage, and of idle time outside of the idle pool its reason."""
        is_free = system.condition == "Automated" and system.usage == "idle" and system.reservation is None
        if is_free and system.draining:
            return "draining"
        if is_free and system.occupied:
            return "occupied"
        return "disabled" if is_free and not self._is_serving(system.lab_controller) else system.usage

    def idle(self) -> dict[str, str]:
        return {
            fqdn: system.lab_controller
            for fqdn, system in self.systems.items()
            if in_idle_pool(system, self._is_serving(system.lab_controller))
        }

    def _is_serving(self, lab: str) -> bool:
        return self.directory.is_serving(lab) and number_of_lab(self.directory, lab) != EVERYBODY

    def shown(self, fqdn: str) -> tuple[object, ...]:
        system = self.systems[fqdn]
        return (
            *(system.version, system.lab_controller, system.condition, system.usage, system.recipe_id),
            *(system.draining, system.reservation and system.reservation.user),
            set(self.directory.pools_of(fqdn)),
        )


def anything(dice: Random, systems: Sequence[str]) -> Iterator[Happened]:
    """Yield random events, also in an order that no lab would allow."""
    for _ in range(dice.randint(1, 4)):
        kind = dice.choices(("lab-controller", "pool", "system"), (2, 1, 7))[0]
        if kind == "lab-controller":
            yield f"lab-controller/{dice.choice(LABS)}", dice.choice(_LAB_EVENTS)
        elif kind == "pool":
            moved = dice.choice((PoolSystemAdded, PoolSystemAdded, PoolSystemRemoved))
            yield f"pool/{dice.choice(POOLS)}", moved(dice.choice(systems))
        else:
            yield f"system/{dice.choice(systems)}", dice.choice(_SYSTEM_EVENTS)


_LAB_EVENTS: list[Event] = [
    *(LabControllerEnabled(), LabControllerEnabled(), LabControllerDisabled()),
    *(LabControllerPartitionChanged(number, ()) for number in (DEFAULT_NUMBER, 2, EVERYBODY)),
]
_SERVING: list[Event] = [LabControllerEnabled(), LabControllerPartitionChanged(DEFAULT_NUMBER, ())]
_SYSTEM_EVENTS: list[Event] = [
    *(
        system_events.SystemConditionChanged(condition, "")
        for condition in ("Automated", "Automated", "Automated", "Broken")
    ),
    *(system_events.SystemLabControllerChanged(name) for name in LABS),
    *(system_events.SystemInventoryChanged({"arches": arches}) for arches in ARCHES),
    *[system_events.SystemIdle()] * 6,
    *(
        system_events.SystemPending(),
        system_events.SystemScheduled(1),
        *[system_events.SystemRunning(None)] * 2,
    ),
    *(system_events.SystemDrained(""), *[system_events.SystemUndrained()] * 3),
    system_events.SystemNoteAdded("slow"),
    *(system_events.SystemOccupied("", 1, None), *[system_events.SystemVacated("")] * 5),
    *(system_events.SystemLoaned("eve", None), *[system_events.SystemLoanEnded("")] * 2),
    *(system_events.SystemReservationBegun("ada", None, 1), *[system_events.SystemReservationEnded("")] * 3),
]


def write_history(models: ProjectedLog, dice: Random) -> None:
    """Write a history into the log. Some systems are registered later than others."""
    models.write(*(lab(name, enabled=dice.random() < 0.5) for name in LABS))
    models.write(*((f"pool/{name}", PoolRegistered(None)) for name in POOLS))
    there = 0
    for number in range(COMMITS):
        if there < min(len(SYSTEMS), 3 + number // 5):
            models.write(registered(SYSTEMS[there], lab_controller=dice.choice(LABS)))
            there += 1
        models.write(*anything(dice, SYSTEMS[:there]))
    # Systems that a test adds to the labs can be idle.
    models.write(*((f"lab-controller/{name}", event) for name in LABS for event in _SERVING))


def project_in_pages(models: ProjectedLog, log: list[Recorded], dice: Random) -> None:
    """Project pages of one or more commits, so that each page begins with the result of the one before."""
    page: list[Recorded] = []
    for recorded in log:
        page.append(recorded)
        if recorded.position == recorded.commit_end and (dice.random() < 0.4 or recorded is log[-1]):
            models.project(page)
            page = []
