"""The states of a partition as columns of plain values, and back: a hundred thousand in part of a second.

A column is the list of what one field is in each of them. Texts that come again and again stand in one list,
and in columns by their places there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from itertools import chain, islice, starmap
from operator import attrgetter
from typing import Any, Final, TypeAlias

from domain.access.policy import Form, Policy, policy_of
from domain.access.policy import told as told_policy
from domain.priority import Priority
from domain.recipe.results import NO_RESULTS, Results
from domain.recipe.state import Recipe, Task
from domain.recipe_set.state import RecipeSet
from domain.system.failures import NO_FAILURES, Failures
from domain.system.state import Loan, Reservation, System
from domain.values import maker

Told: TypeAlias = dict[str, list[Any]]
"""Columns by the names of fields."""

RECIPE_TEXTS: Final = ("owner", "group", "host_requires", "state", "system", "lab_controller")
TASK_TEXTS: Final = ("name", "state")
SYSTEM_TEXTS: Final = ("lab_controller", "owner", "condition", "usage", "active_pool")

_MAKERS: Final[dict[type[Any], Callable[..., Any]]] = {
    cls: maker(cls) for cls in (Task, Recipe, RecipeSet, System)
}
_PRIORITIES: Final = {int(priority): priority for priority in Priority}


class Texts:
    """Each text once, by its place; None is one, too."""

    def __init__(self) -> None:
        self._places: dict[str | None, int] = {}
        self._told = 0

    def replace(self, told: Told, names: Iterable[str]) -> None:
        """In these columns, by their places."""
        places = self._places
        for name in names:
            told[name] = [places.setdefault(text, len(places)) for text in told[name]]

    def news(self) -> list[str | None]:
        """Those that have come since this was asked last."""
        before, self._told = self._told, len(self._places)
        return list(islice(self._places, before, None))


# Into columns


def told(cls: type[Any], states: Sequence[Any]) -> Told:
    return {name: list(map(attrgetter(name), states)) for name in _names(cls)}


def told_recipes(recipes: Sequence[Recipe], texts: Texts) -> dict[str, Told]:
    """Tasks stand by themselves, those of one recipe behind those of the one before."""
    columns = told(Recipe, recipes)
    tasks = told(Task, list(chain.from_iterable(columns["tasks"])))
    columns["tasks"] = list(map(len, columns["tasks"]))
    columns["results"] = [_told_results(results) for results in columns["results"]]
    texts.replace(columns, RECIPE_TEXTS)
    texts.replace(tasks, TASK_TEXTS)
    return {"recipes": columns, "tasks": tasks}


def _told_results(results: Results) -> Sequence[Any] | None:
    """Return columns of results, None for a recipe without any."""
    if not results.result_count:
        return None
    return results.result_count, results.log_count, results.kinds, list(map(sorted, results.digests))


def told_systems(systems: Sequence[System], texts: Texts) -> dict[str, Told]:
    columns = told(System, systems)
    columns["access_policy"] = [each and told_policy(each) for each in columns["access_policy"]]
    texts.replace(columns, SYSTEM_TEXTS)
    return {"systems": columns}


# And back


def with_texts(columns: Told, texts: Sequence[str], names: Iterable[str]) -> dict[str, Iterable[Any]]:
    """The columns of these names by the texts whose places they are."""
    return {**columns, **{name: map(texts.__getitem__, columns[name]) for name in names}}


def recipes(columns: Told, tasks: Told, texts: Sequence[str]) -> Iterator[Recipe]:
    read = with_texts(tasks, texts, TASK_TEXTS)
    made = _made(Task, read)
    read = with_texts(columns, texts, RECIPE_TEXTS)
    # Most have one.
    read["tasks"] = (
        (next(made),) if count == 1 else tuple(islice(made, count)) for count in columns["tasks"]
    )
    read["autopick_pools"] = map(tuple, columns["autopick_pools"])
    for name in ("deadline", "recorded_deadline"):
        read[name] = map(_moment, columns[name])
    read["results"] = map(_results, columns["results"])
    return _made(Recipe, read)


def recipe_sets(columns: Told) -> Iterator[RecipeSet]:
    read: dict[str, Iterable[Any]] = dict(columns)
    read["priority"] = map(_PRIORITIES.__getitem__, columns["priority"])
    read["recipe_ids"] = map(tuple, columns["recipe_ids"])
    read["submitted_at"] = map(_moment, columns["submitted_at"])
    return _made(RecipeSet, read)


def systems(columns: Told, texts: Sequence[str]) -> Iterator[System]:
    read = with_texts(columns, texts, SYSTEM_TEXTS)
    read["reservation"] = map(_reservation, columns["reservation"])
    read["loan"] = map(_loan, columns["loan"])
    read["failures"] = map(_failures, columns["failures"])
    read["access_policy"] = map(_policy, columns["access_policy"])
    return _made(System, read)


def _made(cls: type[Any], columns: Mapping[str, Iterable[Any]]) -> Iterator[Any]:
    """Raises ValueError where the columns are not equally long."""
    return starmap(_MAKERS[cls], zip(*(columns[name] for name in _names(cls)), strict=True))


def _names(cls: type[Any]) -> Iterator[str]:
    return (field.name for field in fields(cls))


def _results(columns: Sequence[Any] | None) -> Results:
    if columns is None:
        return NO_RESULTS
    result_count, log_count, kinds, digests = columns
    return Results(result_count, log_count, tuple(kinds), tuple(map(frozenset, digests)))


def _reservation(held: Mapping[str, Any] | None) -> Reservation | None:
    return None if held is None else Reservation(**{**held, "until": _moment(held["until"])})


def _loan(held: Mapping[str, Any] | None) -> Loan | None:
    return None if held is None else Loan(**{**held, "until": _moment(held["until"])})


def _failures(held: Mapping[str, Any]) -> Failures:
    return Failures(tuple(held["jobs"]), tuple(held["distros"])) if held["jobs"] else NO_FAILURES


def _policy(entries: Sequence[Form] | None) -> Policy | None:
    return None if entries is None else policy_of(entries)


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
