"""Context managers that remove a part of the scheduler."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from unittest.mock import patch

from domain.access.submit_rights import SubmitRights
from domain.priority import Priority
from domain.scheduling.bitsets.bitmaps import numbers_in, union
from domain.scheduling.decisions import decide, granting, new_job, pending_system, wake_up_grants
from domain.scheduling.decisions.pending_system import tiers_of
from domain.scheduling.demand import recipe_sets
from domain.scheduling.world import triggers
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.triggers import LET_GO, NEW_JOB, PENDING_SYSTEM, WAKE_UP, Triggers


@contextmanager
def without_safety() -> Iterator[None]:
    """Treat every grant as safe."""
    with ExitStack() as stack:
        for module in (granting, new_job, pending_system, wake_up_grants):
            stack.enter_context(patch.object(module, "is_safe", lambda *_: True))
        yield


def without_let_go() -> AbstractContextManager[object]:
    """Let stuck holders keep their systems."""
    return patch.object(decide, "stuck_lab", lambda _: None)


def _queued_first(lab_controller: str) -> tuple[tuple[str, ...], ...]:
    return tuple(reversed(tiers_of(lab_controller)))


@contextmanager
def without_assigned_first() -> Iterator[None]:
    with (
        patch.object(pending_system, "tiers_of", _queued_first),
        patch.object(wake_up_grants, "tiers_of", _queued_first),
    ):
        yield


def without_pending_first() -> AbstractContextManager[object]:
    """Answer wake-ups before pending systems."""
    return patch.object(triggers, "ORDER", (LET_GO, WAKE_UP, PENDING_SYSTEM, NEW_JOB))


def without_basis() -> AbstractContextManager[object]:
    """Rank a recipe that becomes assigned in a batch with the assigned ones at once."""
    return patch.object(recipe_sets, "newly_assigned_line", lambda lab_controller: lab_controller)


@contextmanager
def without_ranks_over_all() -> Iterator[None]:
    """Answer a wake-up system by system, in the order of names."""
    with without_basis(), patch.object(wake_up_grants, "_best_recipes", _of_the_first_by_name):
        yield


def _of_the_first_by_name(
    partition: Partition, groups: list[wake_up_grants.WakeGroup]
) -> list[wake_up_grants.BestRecipe]:
    for number in sorted(
        numbers_in(union(group.systems for group in groups)), key=partition.labs.names.__getitem__
    ):
        alone = [_of_one(group, number) for group in groups if group.systems >> number & 1]
        if best := _best_recipes(partition, alone):
            return best
    return []


def _of_one(group: wake_up_grants.WakeGroup, number: int) -> wake_up_grants.WakeGroup:
    tiers = [[replace(search) for search in tier] for tier in group.tiers]
    return replace(group, systems=1 << number, tiers=tiers, has_best=False)


_best_recipes = wake_up_grants._best_recipes


def without_rank_of_new_sets() -> AbstractContextManager[object]:
    return patch.object(Triggers, "_placed", lambda _, trigger: ((trigger.position,), trigger))


def without_looking_first() -> AbstractContextManager[object]:
    """Let a new job take systems that a wake-up is about to ask."""
    return patch.object(Triggers, "pending_wake_ups", lambda _: iter(()))


def without_maxima() -> AbstractContextManager[object]:
    """Ignore maximum effective priorities."""
    return patch.object(SubmitRights, "maximum", lambda *asked: _maximum(*asked) and Priority.Urgent)


def without_access() -> AbstractContextManager[object]:
    return patch.object(SubmitRights, "maximum", lambda *_: Priority.Urgent)


_maximum = SubmitRights.maximum
