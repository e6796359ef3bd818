"""A lab with rows for every panel: systems in all conditions, waits, provisionings and failures."""

from __future__ import annotations

from collections.abc import Iterable

from domain.directory.events import PoolRegistered, PoolSystemAdded
from domain.job.events import JobSubmitted
from domain.recipe import events as recipe_events
from domain.recipe_set.events import RecipeSetSubmitted
from domain.system import events as system_events
from tests.projections import happened
from tests.projections.happened import LAB, Happened, guest, of
from tests.projections.projected_log import ProjectedLog

GROUP = "kernel-qe"
EAST, WEST = LAB, "lab-2"
# The systems by lab: two of the east run recipes, and one is broken; one of the west drains.
SYSTEMS = {EAST: ("a", "b", "c"), WEST: ("d", "e")}
PRIORITIES = ("Normal", "High", "Low", "Normal", "Urgent")


def fill(models: ProjectedLog) -> None:
    _add_systems(models)
    for number, priority in enumerate(PRIORITIES, start=1):
        models.commit(*job(number, priority))
        models.commit(*happened.queued(number))
    # Recipe 1 runs, with a guest; recipe 2 is given up in the installer, and recipe 3 before it.
    models.commit(*happened.placed("a", 1), *happened.waiting("a", 1, locks=None))
    models.commit(happened.locked(1))
    models.commit(*happened.running("a", 1))
    models.commit(*happened.placed("b", 2), *happened.waiting("b", 2))
    models.commit(*of("recipe", 2, recipe_events.RecipeInstalling("b")))
    models.commit(*of("recipe", 2, recipe_events.RecipeAborted("watchdog")), *returned("b"))
    models.commit(*happened.placed("d", 3), *happened.waiting("d", 3))
    models.commit(*of("recipe", 3, recipe_events.RecipeAborted("no power")), *returned("d"))
    models.commit(*of("system", "c", system_events.SystemConditionChanged("Broken", "disk")))
    models.commit(*of("system", "e", system_events.SystemDrained("moving")))
    begun = system_events.SystemReservationBegun("bob", None, 1)
    # A person's system is provisioned.
    models.commit(*of("system", "b", begun, system_events.SystemInstalling(None)))


def _add_systems(models: ProjectedLog) -> None:
    models.commit(happened.tree(1), *(happened.lab(name) for name in SYSTEMS))
    for lab, fqdns in SYSTEMS.items():
        models.commit(*(happened.registered(fqdn, lab_controller=lab) for fqdn in fqdns))
    models.commit(*of("pool", "big", PoolRegistered(None), PoolSystemAdded("a"), PoolSystemAdded("d")))


def job(number: int, priority: str) -> Iterable[Happened]:
    """Return a job with one set of one recipe, all of this number, and a guest for the first."""
    recipe = happened.host(number, job_id=number, recipe_set_id=number, group=GROUP, priority=priority)
    yield from of("job", number, JobSubmitted("ada", "ada", GROUP, "", (number,), {}))
    yield from of("recipe-set", number, RecipeSetSubmitted(number, priority, (number,)))
    yield from of("recipe", number, recipe)
    if number == 1:
        yield from of("recipe", 101, guest(101, host_id=1))


def returned(fqdn: str) -> Iterable[Happened]:
    return of("system", fqdn, system_events.SystemIdle())
