"""Declared resource locks of the recipes of a submission, merged from tasks and guests upward."""

from __future__ import annotations

from domain.contention.algebra import merge
from domain.contention.documents import raising
from domain.contention.locks import NO_LOCKS, UNKNOWN, Locks, Part, names
from domain.contention.operations import OperationTable
from domain.contention.own_names import with_guests
from domain.job.spec import RecipeSpec, TaskSpec


def declared_locks(recipe: RecipeSpec, operations: OperationTable) -> Locks:
    """Return the locks that a recipe, its tasks and its guests declare, with names in place of `$guests`.

    The other own names stay: those of a guest mean the system of its host. Raises FaultyInput for a task with
    an unknown operation.
    """
    own = merge(recipe.locks, *_of_tasks(recipe.tasks, operations))
    if own != NO_LOCKS:
        own = with_guests(own, _guest_names(recipe))
    return merge(own, *[declared_locks(guest, operations) for guest in recipe.guests])


def _of_tasks(tasks: tuple[TaskSpec, ...], operations: OperationTable) -> list[Locks]:
    declared: list[Locks] = []
    for number, task in enumerate(tasks):
        path, params = ("tasks", number, "params"), dict(task.params)
        if operations.may_declare(task.name, params):
            locks = raising(lambda report: operations.resolve(task.name, params, path, report))  # noqa: B023
            declared += [] if locks is None else [locks]
    return declared


def _guest_names(recipe: RecipeSpec) -> Part:
    """Return the names of the guests; Unknown if a guest has no name."""
    found = [guest.guestname for guest in recipe.guests]
    return UNKNOWN if None in found else names(*(name for name in found if name is not None))
