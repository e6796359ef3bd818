"""Dependencies of a recipe set on other jobs and recipe sets: parsing, numbers that count back, and effects.

    "depends_on": [{"job": 17, "states": ["completed"]}, {"recipe_set": -1}]

A set has the dependencies of its job and its own. All must be fulfilled. The default of `states`, also for an
empty list, is completed and aborted. A job has the state that its recipe sets have together
(`domain.roll_up`): aborted if one of them was aborted, else cancelled if one was cancelled, else completed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, Final, NamedTuple, TypeGuard

from domain.document_checks import (
    MAX_ID,
    fields_of,
    is_whole,
    items_of,
    one_of,
    read_value,
    whole,
    without_faults,
)
from domain.errors import display_name, unknown_name
from domain.requirements.findings import Path, Report

JOB: Final = "job"
RECIPE_SET: Final = "recipe-set"

FINAL_STATES: Final = ("completed", "cancelled", "aborted")
DEFAULT_STATES: Final = ("completed", "aborted")

# Field in documents -> kind.
_KINDS: Final = {"job": JOB, "recipe_set": RECIPE_SET}
_FIELDS: Final = {kind: field for field, kind in _KINDS.items()}


class Dependency(NamedTuple):
    """The job or recipe set that must end first, and the states in which the dependent goes on.

    `kind` is that of a subject: `job` or `recipe-set`. `number` is an id; below 0 it counts back until
    `with_ids` replaces it. `states` are in the order of `FINAL_STATES`.
    """

    kind: str
    number: int
    states: tuple[str, ...] = DEFAULT_STATES


class Preceding(NamedTuple):
    """The number of jobs of the submission, and of sets of the document, before the dependent.

    No set of the document precedes its job.
    """

    jobs: int = 0
    recipe_sets: int = 0


class Effect(Enum):
    """The effect of a dependency on its dependent."""

    WAIT = "wait"
    PROCEED = "proceed"
    CANCEL = "cancel"
    ABORT = "abort"


EFFECTS: Final[Mapping[tuple[str | None, bool], Effect]] = {
    # The named job or set is not final.
    (None, False): Effect.WAIT,
    # The named job or set has ended in a state that the dependency names.
    ("completed", True): Effect.PROCEED,
    ("cancelled", True): Effect.PROCEED,
    ("aborted", True): Effect.PROCEED,
    # The named job or set has ended in another state.
    ("completed", False): Effect.ABORT,
    ("cancelled", False): Effect.CANCEL,
    ("aborted", False): Effect.ABORT,
}
"""Effects by the final state, None before it, and by whether the dependency names that state."""

_ENDED: Final = {"completed": "has completed", "cancelled": "was cancelled", "aborted": "was aborted"}


def dependencies_from_json(
    document: Any, preceding: Preceding, path: Path, report: Report
) -> tuple[Dependency, ...]:
    """Return the valid dependencies of a job or a recipe set, in order; report the faults of others."""
    read = (_read(item, preceding, place, report) for place, item in items_of(document, path, report))
    return tuple(dependency for dependency in read if dependency is not None)


def dependency_to_json(dependency: Dependency) -> dict[str, Any]:
    """Return the document of a dependency, with its states."""
    return {_FIELDS[dependency.kind]: dependency.number, "states": [*dependency.states]}


def stored_dependency(document: Mapping[str, Any]) -> Dependency:
    """Return the dependency of a document from the log, which has no faults."""
    kind = next(kind for field, kind in _KINDS.items() if field in document)
    return Dependency(kind, document[_FIELDS[kind]], tuple(document["states"]))


def report_unknown(document: Any, exists: Callable[[str, int], bool], path: Path, report: Report) -> None:
    """Report ids of jobs and recipe sets that do not exist, in a document that need not be valid.

    `exists` takes a kind and an id. It must be false for the submission itself, so that no id can name the
    dependent or something later. Numbers that count back were checked when they were parsed.
    """
    for place, item in items_of(document, path, lambda path, message: None):
        for field, kind in _KINDS.items():
            named = item.get(field) if isinstance(item, Mapping) else None
            if _is_id(named) and not exists(kind, named):
                report((*place, field), unknown_name(kind, named))


def _is_id(raw: Any) -> TypeGuard[int]:
    return is_whole(raw) and 0 < raw <= MAX_ID


def with_ids(
    dependencies: Iterable[Dependency], job_ids: Sequence[int], recipe_set_ids: Sequence[int]
) -> tuple[Dependency, ...]:
    """Return the dependencies with ids in place of numbers that count back, each once.

    The ids are those of the preceding jobs of the submission and sets of the document, in order. For a recipe
    set, pass the dependencies of its job before its own.
    """
    preceding = {JOB: job_ids, RECIPE_SET: recipe_set_ids}
    found = (
        dependency._replace(number=preceding[dependency.kind][dependency.number])
        if dependency.number < 0
        else dependency
        for dependency in dependencies
    )
    return tuple(dict.fromkeys(found))


class Verdict(NamedTuple):
    """The effect of all dependencies of a set, with the reason of any effect but PROCEED."""

    effect: Effect
    reason: str = ""


def effect(dependency: Dependency, state: str | None) -> Effect:
    """Return the effect of a dependency on a job or set with this final state, None before it is final."""
    return EFFECTS[state, state in dependency.states]


def verdict(dependencies: Iterable[Dependency], final_state: Callable[[str, int], str | None]) -> Verdict:
    """Return the effect of all dependencies of a recipe set, whose numbers must be ids.

    The first dependency that ends the set decides, without regard to others that are not final; else the
    first that is not final. `final_state` takes a kind and an id.
    """
    waits = None
    for dependency in dependencies:
        state = final_state(dependency.kind, dependency.number)
        match effect(dependency, state):
            case Effect.WAIT:
                waits = waits or Verdict(Effect.WAIT, _reason(dependency, state))
            case Effect.CANCEL | Effect.ABORT as ends:
                return Verdict(ends, _reason(dependency, state))
    return waits or Verdict(Effect.PROCEED)


def _reason(dependency: Dependency, state: str | None) -> str:
    """Return `job 17, its dependency, was aborted, not completed`."""
    subject = f"{display_name(dependency.kind, dependency.number)}, its dependency,"
    if state is None:
        return f"{subject} has not ended"
    return f"{subject} {_ENDED[state]}, not {' or '.join(dependency.states)}"


def _read(item: Any, preceding: Preceding, path: Path, report: Report) -> Dependency | None:
    return without_faults(lambda report: _read_parts(item, preceding, path, report), report)


def _read_parts(item: Any, preceding: Preceding, path: Path, report: Report) -> Dependency:
    """Return a dependency with defaults in place of faulty parts."""
    given = fields_of(item, (*_KINDS, "states"), path, report)
    named = [field for field in _KINDS if given.get(field) is not None]
    if isinstance(item, Mapping) and len(named) != 1:
        report(path, f"must have exactly one of {' and '.join(_KINDS)}")
    for field in named:
        read_value(_number(field, preceding), given[field], (*path, field), report)
    states = _states(given.get("states"), (*path, "states"), report)
    if len(named) != 1:
        return Dependency(JOB, 0)
    return Dependency(_KINDS[named[0]], given[named[0]], states)


def _number(field: str, preceding: Preceding) -> Callable[[Any], int]:
    count = preceding.jobs if field == "job" else preceding.recipe_sets
    place = "submission" if field == "job" else "document"

    def read(raw: Any) -> int:
        number = whole(raw, -MAX_ID, MAX_ID)
        if number == 0:
            raise ValueError("must not be 0: nothing can depend on itself")
        if -number > count:
            raise ValueError(f"counts back too far: {count} precede it in its {place}")
        return number

    return read


def _states(raw: Any, path: Path, report: Report) -> tuple[str, ...]:
    """Return the named states once each, in the order of `FINAL_STATES`."""
    if raw is None or raw == []:
        return DEFAULT_STATES
    read = one_of(*FINAL_STATES)
    states = [read_value(read, item, place, report) for place, item in items_of(raw, path, report)]
    return tuple(state for state in FINAL_STATES if state in states)
