"""However the log is cut into pages, the read models are the same."""

from __future__ import annotations

from random import Random

import pytest

from domain.command.events import CommandFailed
from domain.directory.events import DistroTreeRemoved, LabControllerDisabled, PoolRegistered, PoolSystemAdded
from domain.recipe import events as recipe
from domain.recipe_set.events import RecipeSetPriorityChanged
from domain.system import events as system
from tests.harness.databases import TestDatabase
from tests.harness.sessions import owner_session
from tests.projections import happened
from tests.projections.copies import copies
from tests.projections.happened import LAB, guest, host, of
from tests.projections.random_history import project_in_pages, write_history
from tests.projections.recipe_lives import lives
from tests.projections.telling import Told
from tests.workers.read_models import forget


def test_read_models__commit_by_commit_or_all_at_once__are_the_same(
    told: Told, database: TestDatabase
) -> None:
    tell_a_story(told)
    with owner_session(database.owner_url) as owner:
        one_by_one = copies(owner)
        forget(owner)
        told.begin_again()
        told.project(told.unread())
        assert copies(owner) == one_by_one
    assert all(one_by_one.values()), "there is something in every table"


@pytest.mark.parametrize("seed", range(3))
def test_read_models__cut_anywhere__are_the_same_to_the_byte(
    told: Told, database: TestDatabase, seed: int
) -> None:
    dice = Random(seed)
    write_history(told, dice)
    for commit in lives(dice, recipes=15):
        told.write(*commit)
    log = list(told.unread())
    with owner_session(database.owner_url) as owner:
        found = []
        for _ in range(2):
            project_in_pages(told, log, dice)
            found.append(copies(owner))
            forget(owner)
            told.begin_again()
        told.project(log)
        assert found == [copies(owner)] * 2


def tell_a_story(told: Told) -> None:
    """With something of everything in it."""
    told.tell(happened.lab(), happened.tree(1), *(happened.registered(fqdn) for fqdn in "abc"))
    told.tell(*of("pool", "big", PoolRegistered(None), PoolSystemAdded("a")))
    told.tell(*happened.submitted(host(1), host(2), guest(3, host_id=2)), *happened.queued(1, 2, 3))
    told.tell(("recipe-set/1", RecipeSetPriorityChanged("High")))
    told.tell(*happened.scheduled("a", 1), happened.assigned(2), happened.assigned(3))
    told.tell(*of("system", "a", system.SystemScheduled(1)))
    told.tell(*happened.scheduled("b", 2, 3), *happened.waiting("a", 1), *happened.waiting("b", 2, 3))
    told.tell(*happened.running("a", 1), *happened.running("b", 2, 3))
    told.tell(*of("recipe", 3, recipe.TaskStarted(31), recipe.TaskResult(31, "Warn", "", 1.0, ("log",))))
    (at,) = told.tell(*of("recipe", 3, recipe.RecipeAborted("watchdog")))
    told.tell((f"command/{at}", CommandFailed("nobody there")))
    told.tell(*of("recipe", 1, recipe.RecipeCompleted()), *of("recipe", 2, recipe.RecipeReserved("b", 60)))
    begun = system.SystemReservationBegun("bob", None, 1)
    told.tell(*of("system", "c", system.SystemConditionChanged("Manual", "mine"), begun))
    told.tell(*of("system", "c", system.SystemWaiting(None)), ("distro-tree/1", DistroTreeRemoved()))
    told.tell(*of("system", "c", system.SystemReservationEnded("over"), system.SystemIdle()))
    told.tell(*of("lab-controller", LAB, LabControllerDisabled()), *happened.queued(2, reason="preempted"))
