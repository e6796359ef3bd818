"""Encoding and decoding of the states of a partition as columns of plain values.

A column lists the values of one field over all states. Texts that occur often are stored once, in a list of
texts; columns contain indexes in that list. A hundred thousand states take a fraction of a second.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from functools import lru_cache
from itertools import chain, islice, starmap
from operator import attrgetter
from typing import Any, Final, TypeAlias

from domain.access.policy import Form, Policy, policy_form, policy_of
from domain.admission.dependencies import Dependency
from domain.contention.documents import locks_to_json, stored_locks
from domain.contention.locks import Locks
from domain.fast_dataclasses import maker
from domain.priority import Priority
from domain.recipe.claim import Claim
from domain.recipe.results import NO_RESULTS, Results
from domain.recipe.state import Recipe, Task
from domain.recipe_set.state import RecipeSet, SubmittedFacts, shared_facts
from domain.system.failures import NO_FAILURES, Failures
from domain.system.state import Loan, Occupation, Reservation, System

StateColumns: TypeAlias = dict[str, list[Any]]
"""Columns by field name."""

RECIPE_TEXTS: Final = (
    "owner",
    "group",
    "host_requires",
    "state",
    "system",
    "lab_controller",
    "locks",
    "held",
)
SET_TEXTS: Final = ("profile",)
TASK_TEXTS: Final = ("name", "state")
SYSTEM_TEXTS: Final = ("lab_controller", "owner", "condition", "usage", "active_pool")

_MAKERS: Final[dict[type[Any], Callable[..., Any]]] = {
    cls: maker(cls) for cls in (Task, Recipe, RecipeSet, System)
}
_PRIORITIES: Final = {int(priority): priority for priority in Priority}


class Texts(dict["str | None", int]):
    """The indexes of distinct texts, which may include None. Mutable: a lookup adds a missing text.

    A dict, so that `map` looks up texts without a Python call for each.
    """

    def __init__(self) -> None:
        super().__init__()
        self._new: list[str | None] = []

    def __missing__(self, text: str | None) -> int:
        index = self[text] = len(self)
        self._new.append(text)
        return index

    def replace(self, columns: StateColumns, names: Iterable[str]) -> None:
        """Replace the texts of these columns by their indexes."""
        for name in names:
            columns[name] = list(map(self.__getitem__, columns[name]))

    def new_texts(self) -> list[str | None]:
        """Return the texts added since the last call."""
        found, self._new = self._new, []
        return found


# Encoding


def encode(cls: type[Any], states: Sequence[Any]) -> StateColumns:
    return {name: list(map(attrgetter(name), states)) for name in _names(cls)}


def encode_recipes(recipes: Sequence[Recipe], texts: Texts) -> dict[str, StateColumns]:
    columns = encode(Recipe, recipes)
    tasks = encode(Task, list(chain.from_iterable(columns["tasks"])))
    columns["tasks"] = list(map(len, columns["tasks"]))
    columns["results"] = [_encode_results(results) for results in columns["results"]]
    for name in ("locks", "held"):
        columns[name] = list(map(_encode_locks, columns[name]))
    texts.replace(columns, RECIPE_TEXTS)
    texts.replace(tasks, TASK_TEXTS)
    return {"recipes": columns, "tasks": tasks}


def _encode_results(results: Results) -> Sequence[Any] | None:
    if not results.result_count:
        return None
    digests = list(map(sorted, results.digests))
    return results.result_count, results.log_count, results.kinds, digests, results.failed_tasks


def encode_recipe_sets(recipe_sets: Sequence[RecipeSet], texts: Texts) -> dict[str, StateColumns]:
    columns = encode(RecipeSet, recipe_sets)
    columns["profile"] = list(map(_encode_locks, columns["profile"]))
    texts.replace(columns, SET_TEXTS)
    columns["depends_on"] = [list(map(list, each)) or None for each in columns["depends_on"]]
    # Many sets share their facts.
    places: dict[SubmittedFacts, int] = {}
    columns["submitted"] = [places.setdefault(facts, len(places)) for facts in columns["submitted"]]
    facts = dict(zip(SubmittedFacts._fields, map(list, zip(*places, strict=True)), strict=False))
    return {"recipe_sets": columns, "facts": facts}


@lru_cache(4_096)
def _encode_locks(locks: Locks | None) -> str | None:
    """Return the document of locks as a text, because many recipes have the same."""
    return None if locks is None else json.dumps(locks_to_json(locks))


def encode_systems(systems: Sequence[System], texts: Texts) -> dict[str, StateColumns]:
    columns = encode(System, systems)
    columns["access_policy"] = [each and policy_form(each) for each in columns["access_policy"]]
    texts.replace(columns, SYSTEM_TEXTS)
    return {"systems": columns}


# Decoding


def decode_texts(
    columns: StateColumns, texts: Sequence[str], names: Iterable[str]
) -> dict[str, Iterable[Any]]:
    """Return the columns with the indexes in the named ones replaced by texts."""
    return {**columns, **{name: map(texts.__getitem__, columns[name]) for name in names}}


def decode_recipes(columns: StateColumns, tasks: StateColumns, texts: Sequence[str]) -> Iterator[Recipe]:
    read = decode_texts(tasks, texts, TASK_TEXTS)
    decoded = _decode(Task, read)
    read = decode_texts(columns, texts, RECIPE_TEXTS)
    # Most recipes have one task.
    read["tasks"] = (
        (next(decoded),) if count == 1 else tuple(islice(decoded, count)) for count in columns["tasks"]
    )
    read["autopick_pools"] = map(tuple, columns["autopick_pools"])
    for name in ("deadline", "recorded_deadline"):
        read[name] = map(_decode_moment, columns[name])
    read["results"] = map(_decode_results, columns["results"])
    read["claim"] = map(_decode_claim, columns["claim"])
    for name in ("locks", "held"):
        read[name] = map(_decode_locks, read[name])
    return _decode(Recipe, read)


def decode_recipe_sets(
    columns: StateColumns, facts: StateColumns, texts: Sequence[str]
) -> Iterator[RecipeSet]:
    read = decode_texts(columns, texts, SET_TEXTS)
    read["priority"] = map(_PRIORITIES.__getitem__, columns["priority"])
    for name in ("recipe_ids", "waived_tasks"):
        read[name] = map(tuple, columns[name])
    read["submitted_at"] = map(_decode_moment, columns["submitted_at"])
    read["profile"] = map(_decode_locks, read["profile"])
    read["depends_on"] = map(_decode_dependencies, columns["depends_on"])
    submitted = list(map(_decode_facts, *(facts[name] for name in SubmittedFacts._fields)))
    read["submitted"] = map(submitted.__getitem__, columns["submitted"])
    return _decode(RecipeSet, read)


def _decode_dependencies(forms: Sequence[Any] | None) -> tuple[Dependency, ...]:
    return () if forms is None else tuple(Dependency(kind, number, tuple(to)) for kind, number, to in forms)


def _decode_facts(
    owner: str, submitter: str, group: str | None, queue: str, *names: Sequence[str]
) -> SubmittedFacts:
    return shared_facts(owner, submitter, group, queue, *map(tuple, names))


def decode_systems(columns: StateColumns, texts: Sequence[str]) -> Iterator[System]:
    read = decode_texts(columns, texts, SYSTEM_TEXTS)
    read["reservation"] = map(_decode_reservation, columns["reservation"])
    read["loan"] = map(_decode_loan, columns["loan"])
    read["occupied"] = map(_decode_occupation, columns["occupied"])
    read["failures"] = map(_decode_failures, columns["failures"])
    read["notes"] = map(tuple, columns["notes"])
    read["access_policy"] = map(_decode_policy, columns["access_policy"])
    for name in ("windows", "overridden_windows"):
        read[name] = map(tuple, columns[name])
    return _decode(System, read)


def _decode(cls: type[Any], columns: Mapping[str, Iterable[Any]]) -> Iterator[Any]:
    """Yield the states. Raise ValueError if the columns have different lengths."""
    return starmap(_MAKERS[cls], zip(*(columns[name] for name in _names(cls)), strict=True))


def _names(cls: type[Any]) -> Iterator[str]:
    return (field.name for field in fields(cls))


def _decode_results(columns: Sequence[Any] | None) -> Results:
    if columns is None:
        return NO_RESULTS
    result_count, log_count, kinds, digests, failed_tasks = columns
    levels = tuple(map(frozenset, digests))
    return Results(result_count, log_count, tuple(kinds), levels, tuple(failed_tasks))


def _decode_claim(held: Mapping[str, Any] | None) -> Claim | None:
    return None if held is None else Claim(**{**held, "since": _decode_moment(held["since"])})


def _decode_reservation(held: Mapping[str, Any] | None) -> Reservation | None:
    return None if held is None else Reservation(**{**held, "until": _decode_moment(held["until"])})


def _decode_loan(held: Mapping[str, Any] | None) -> Loan | None:
    return None if held is None else Loan(**{**held, "until": _decode_moment(held["until"])})


def _decode_occupation(held: Mapping[str, Any] | None) -> Occupation | None:
    return None if held is None else Occupation(**held)


def _decode_failures(held: Mapping[str, Any]) -> Failures:
    return Failures(tuple(held["jobs"]), tuple(held["distros"])) if held["jobs"] else NO_FAILURES


def _decode_policy(entries: Sequence[Form] | None) -> Policy | None:
    return None if entries is None else policy_of(entries)


@lru_cache(4_096)
def _decode_locks(text: str | None) -> Locks | None:
    return None if text is None else stored_locks(json.loads(text))


def _decode_moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
