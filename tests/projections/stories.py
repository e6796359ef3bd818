"""A history with something of everything in it, told commit by commit."""

from __future__ import annotations

from domain.directory.events import DistroTreeRemoved, LabControllerDisabled, PoolRegistered, PoolSystemAdded
from domain.lab_commands.events import CommandFailed
from domain.recipe import events as recipe_events
from domain.recipe_set.events import RecipeSetPriorityChanged
from domain.system import events as system_events
from tests.projections import happened
from tests.projections.happened import LAB, guest, host, of
from tests.projections.telling import Told


def tell_a_story(told: Told) -> None:
    told.tell(happened.lab(), happened.tree(1), *(happened.registered(fqdn) for fqdn in "abc"))
    told.tell(*of("pool", "big", PoolRegistered(None), PoolSystemAdded("a")))
    told.tell(*happened.submitted(host(1), host(2), guest(3, host_id=2)), *happened.queued(1, 2, 3))
    told.tell(("recipe-set/1", RecipeSetPriorityChanged("High")))
    told.tell(*happened.scheduled("a", 1), happened.assigned(2), happened.assigned(3))
    told.tell(*of("system", "a", system_events.SystemScheduled(1)))
    told.tell(*happened.scheduled("b", 2, 3), *happened.waiting("a", 1), *happened.waiting("b", 2, 3))
    told.tell(*happened.running("a", 1), *happened.running("b", 2, 3))
    told.tell(
        *of(
            "recipe",
            3,
            recipe_events.TaskStarted(31),
            recipe_events.TaskResult(31, "Warn", "", 1.0, ("log",)),
        )
    )
    (at,) = told.tell(*of("recipe", 3, recipe_events.RecipeAborted("watchdog")))
    told.tell((f"command/{at}", CommandFailed("nobody there")))
    told.tell(
        *of("recipe", 1, recipe_events.RecipeCompleted()),
        *of("recipe", 2, recipe_events.RecipeReserved("b", 60)),
    )
    begun = system_events.SystemReservationBegun("bob", None, 1)
    told.tell(*of("system", "c", system_events.SystemConditionChanged("Manual", "mine"), begun))
    told.tell(*of("system", "c", system_events.SystemWaiting(None)), ("distro-tree/1", DistroTreeRemoved()))
    told.tell(*of("system", "c", system_events.SystemReservationEnded("over"), system_events.SystemIdle()))
    told.tell(*of("lab-controller", LAB, LabControllerDisabled()), *happened.queued(2, reason="preempted"))
