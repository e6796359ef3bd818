"""Parsing of declared locks and dependencies of a document, which may have faults."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from api.intake.limits import (
    MAX_DEPENDENCIES,
    MAX_FAULTS,
    MAX_LOCK_NAMES,
    MAX_MENTIONED,
    MAX_NAME_LENGTH,
)
from api.intake.near_names import suggestion, unknown_name_message
from api.intake.words import one_line
from domain.admission.dependencies import (
    Dependency,
    Preceding,
    dependencies_from_json,
    report_unknown,
)
from domain.contention.cells import KINDS
from domain.contention.documents import UNKNOWN_KIND, raising, read_locks
from domain.contention.locks import ALIASES, LEVELS, NO_LOCKS, WHOLE_LAB, Locks, names_in
from domain.contention.operation_rows import PARAMETER
from domain.contention.operations import OPERATION_PARAMETER, OperationTable
from domain.contention.own_names import OWN_NAMES
from domain.directory.name_index import NameIndex
from domain.job.names import UnknownName, objects
from domain.requirements.findings import Finding, Path, Report

Exists = Callable[[str, int], bool]
"""A function that returns whether a job or recipe set exists, by its kind and id."""

_LEVEL_WORDS: Final = (*LEVELS, *ALIASES, WHOLE_LAB)
# Level -> the field of `NameIndex` with the names that exist. Other levels have free names.
_NAMES_BY_LEVEL: Final = {"pool": "pools", "system": "systems"}
_DEPENDENCY_FIELDS: Final = ("job", "recipe_set", "states")


NOTHING_BEFORE: Final = Preceding()


class Declarations(NamedTuple):
    """Locks of the recipes in document order, dependencies of the job and of each set, and all faults."""

    locks: list[Locks]
    depends_on: tuple[Dependency, ...]
    set_depends_on: list[tuple[Dependency, ...]]
    findings: list[Finding]


class LockContext(NamedTuple):
    """Existing names, those that a message may show, and the operation table."""

    names: NameIndex
    visible: NameIndex
    operations: OperationTable


def read_declarations(
    document: Mapping[str, Any],
    recipes: Iterable[tuple[Path, Mapping[str, Any]]],
    context: LockContext,
    exists: Exists,
    preceding: Preceding = NOTHING_BEFORE,
) -> Declarations:
    """Return the declarations of a document with the given recipes; faulty parts have defaults.

    `preceding` has the jobs of the same submission before the job, and the recipe sets that it has already.
    """
    findings: list[Finding] = []
    locks = [_locks(path, recipe, context, findings) for path, recipe in recipes]
    jobs, sets = preceding
    of_job = _dependencies(document, (), Preceding(jobs), exists, findings)
    of_sets = [
        _dependencies(recipe_set, path, Preceding(jobs, sets + int(path[-1])), exists, findings)
        for path, recipe_set in objects(document, (), "recipe_sets")
    ]
    count = len(mentioned(document))
    if count > MAX_MENTIONED:
        names = f"{count} different jobs and recipe sets"
        findings.append(Finding((), f"depends on {names}; {MAX_MENTIONED} are allowed"))
    return Declarations(locks, of_job, of_sets, findings)


def mentioned(document: Mapping[str, Any]) -> frozenset[tuple[str, int]]:
    """Return the kinds and ids of jobs and recipe sets on which a job says that it depends."""
    found: set[tuple[str, int]] = set()

    def note(kind: str, number: int) -> bool:
        found.add((kind, number))
        return True

    for _, part in [((), document), *objects(document, (), "recipe_sets")]:
        if "depends_on" in part:
            report_unknown(part["depends_on"], note, (), lambda path, message: None)
    return frozenset(found)


def _locks(path: Path, recipe: Mapping[str, Any], context: LockContext, findings: list[Finding]) -> Locks:
    """Return the locks that a recipe declares itself; also report the faults of those of its tasks."""
    for task_path, task in objects(recipe, path, "tasks"):
        _check_task(task, task_path, context, findings)
    document, place = recipe.get("locks"), (*path, "locks")
    if not isinstance(document, dict):
        return NO_LOCKS

    def report(at: Path, message: str) -> None:
        hint = _hint(document, at[len(place) :], message) if len(findings) < MAX_FAULTS else ""
        findings.append(Finding(at, message + hint))

    locks = _read_limited(document, place, report)
    for at, level, name in names_of_locks(document, place) if _size(document) <= MAX_LOCK_NAMES else ():
        if len(name) <= MAX_NAME_LENGTH:
            _check_exists(at, level, name, context, findings)
    return locks


def reported_locks(document: Mapping[str, Any]) -> Locks:
    """Return the locks of the field `locks` of a report. Raises FaultyInput with all faults."""
    return raising(lambda report: _read_reported(document, ("locks",), report))


def _read_reported(document: Mapping[str, Any], place: Path, report: Report) -> Locks:
    """Return the locks of a report, and report own names: held locks have real names from the start."""
    locks = _read_limited(document, place, report)
    for at, _, name in names_of_locks(document, place) if _size(document) <= MAX_LOCK_NAMES else ():
        if name in OWN_NAMES:
            report(at, f"must be a real name that the recipe holds; {name} is for declared locks only")
    return locks


def _read_limited(document: Mapping[str, Any], place: Path, report: Report) -> Locks:
    """Return the locks of a document at `place`, none if it is too large; report every fault."""
    if _size(document) > MAX_LOCK_NAMES:
        report(place, f"must not have more than {MAX_LOCK_NAMES} names")
        return NO_LOCKS
    for at, _, name in names_of_locks(document, place):
        if len(name) > MAX_NAME_LENGTH:
            report(at, f"must not be longer than {MAX_NAME_LENGTH} characters")
    return read_locks(document, place, report)


def _hint(document: Mapping[str, Any], path: Path, message: str) -> str:
    """Return a suggestion for an unknown level or kind at a path of the locks."""
    if message == UNKNOWN_KIND:
        is_key = len(path) > 1 and isinstance(path[-1], str)
        word = path[-1] if is_key else _part(document, path)
        return suggestion(word, KINDS) if isinstance(word, str) else ""
    if len(path) == 1 and path[0] not in _LEVEL_WORDS:
        return suggestion(str(path[0]), _LEVEL_WORDS)
    return ""


def _part(document: Any, path: Path) -> Any:
    for step in path:
        document = document[step]
    return document


def names_of_locks(document: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, str, str]]:
    """Yield path, level and name of each name in valid parts of a document of locks."""
    for word, value in document.items():
        level = ALIASES.get(word, word)
        for at, names in _lists_of_names(value, (*path, word)):
            for number, name in enumerate(names):
                if isinstance(name, str) and name.strip():
                    yield (*at, number), level, name.strip()


def _lists_of_names(value: Any, path: Path) -> Iterator[tuple[Path, list[Any]]]:
    """Yield the lists of names of the locks of a level, with their paths."""
    forms = [((*path, number), lock) for number, lock in enumerate(value)] if isinstance(value, list) else []
    for at, lock in forms or [(path, value)]:
        for kind, names in lock.items() if isinstance(lock, Mapping) else ():
            if isinstance(names, list):
                yield (*at, kind), names


def _size(document: Mapping[str, Any]) -> int:
    """Return the number of levels, locks and names, in parts that need not be valid."""
    locks = [lock for value in document.values() for lock in (value if isinstance(value, list) else [value])]
    names = [names for lock in locks if isinstance(lock, Mapping) for names in lock.values()]
    return len(locks) + sum(len(each) if isinstance(each, list) else 1 for each in names)


def report_unknown_in_rows(document: object, path: Path, context: LockContext, report: Report) -> None:
    """Report the pools and systems in rows of the operation table that do not exist.

    The rows, at `path`, may have other faults.
    """
    findings: list[Finding] = []
    for number, row in enumerate(document if isinstance(document, list) else ()):
        locks = row.get("locks") if isinstance(row, Mapping) else None
        place = (*path, number, "locks")
        for at, level, name in names_of_locks(locks, place) if isinstance(locks, Mapping) else ():
            if not PARAMETER.fullmatch(name):
                _check_exists(at, level, name, context, findings)
    for finding in findings:
        report(finding.path, finding.message)


def _check_exists(
    path: Path, level: str, name: str, context: LockContext, findings: list[Finding], source: str = ""
) -> None:
    """Report a pool or system that does not exist. Names are case-sensitive, as in all locks.

    The message begins with `source`.
    """
    kind = _NAMES_BY_LEVEL.get(level)
    if kind is None or name in OWN_NAMES or name in getattr(context.names, kind):
        return
    unknown = UnknownName(path, kind, name, "")
    is_shown = len(findings) < MAX_FAULTS
    message = unknown.message
    if is_shown:
        own = suggestion(name, sorted(OWN_NAMES)) if name.startswith("$") else ""
        message = message + own if own else unknown_name_message(unknown, context.visible)
    findings.append(Finding(path, source + message))


def _check_task(task: Mapping[str, Any], path: Path, context: LockContext, findings: list[Finding]) -> None:
    """Report an unknown operation, and parameters that name a lock but cannot."""
    name, given, place = task.get("name"), task.get("params"), (*path, "params")
    params = (
        {param: value for param, value in given.items() if isinstance(value, str)}
        if isinstance(given, Mapping)
        else {}
    )
    task_name = name if isinstance(name, str) else ""
    if not context.operations.may_declare(task_name, params):
        return

    def report(at: Path, message: str) -> None:
        operations = [row.operation for row in context.operations.rows]
        hint = suggestion(params[OPERATION_PARAMETER], operations) if len(findings) < MAX_FAULTS else ""
        findings.append(Finding(at, message + hint))

    locks = context.operations.resolve(task_name, params, place, report)
    if locks is None or locks == NO_LOCKS:
        return
    by_value = {value.strip(): param for param, value in params.items()}
    for lock_name in sorted(by_value.keys() & names_in(locks)):
        findings += _faults_of_parameter((*place, by_value[lock_name]), lock_name)
    for level, lock in zip(LEVELS, locks.levels, strict=True):
        for part in lock:
            for lock_name in part if isinstance(part, tuple) else ():
                operation = context.operations.operation_with(lock_name, task_name, params)
                if operation is None:
                    _check_exists((*place, by_value[lock_name]), level, lock_name, context, findings)
                else:
                    source = f'task "{task_name}", operation "{operation}": '
                    _check_exists(path, level, lock_name, context, findings, source)


def _faults_of_parameter(path: Path, name: str) -> Iterator[Finding]:
    if len(name) > MAX_NAME_LENGTH:
        yield Finding(path, f"names a lock: must not be longer than {MAX_NAME_LENGTH} characters")
    try:
        one_line(name)
    except ValueError as error:
        yield Finding(path, f"names a lock: {error}")


def _dependencies(
    part: Mapping[str, Any], path: Path, preceding: Preceding, exists: Exists, findings: list[Finding]
) -> tuple[Dependency, ...]:
    """Return the dependencies of a job or a recipe set."""
    document, place = part.get("depends_on"), (*path, "depends_on")
    if not isinstance(document, list) or len(document) > MAX_DEPENDENCIES:
        return ()

    def report(at: Path, message: str) -> None:
        if len(at) == len(place) + 2 and at[-1] not in _DEPENDENCY_FIELDS:
            message = f'unknown field "{at[-1]}"'
            if len(findings) < MAX_FAULTS:
                message += suggestion(str(at[-1]), _DEPENDENCY_FIELDS)
        findings.append(Finding(at, message))

    found = dependencies_from_json(document, preceding, place, report)
    report_unknown(document, exists, place, report)
    return found
