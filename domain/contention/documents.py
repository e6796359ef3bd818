"""Resource locks as JSON: `{"system": {"Exclusive": ["a"]}, "network": "AllShared", "whole_lab": true}`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, TypeVar

from domain.contention.algebra import join, normalised
from domain.contention.cells import KINDS
from domain.contention.locks import (
    ALIASES,
    ALL,
    LEVELS,
    NO_LOCK,
    NO_LOCKS,
    UNKNOWN,
    WHOLE_LAB,
    LevelLock,
    Locks,
    Part,
    names,
)
from domain.errors import Fault, FaultyInput
from domain.requirements.findings import Path, Report, dotted

T = TypeVar("T")

NONE: Final = "None"
SHARED: Final = "Shared"
EXCLUSIVE: Final = "Exclusive"

NAMED: Final = (SHARED, EXCLUSIVE)
"""The kinds that take names."""

UNNAMED: Final = {
    NONE: NO_LOCK,
    "UnknownShared": LevelLock(shared=UNKNOWN),
    "AllShared": LevelLock(shared=ALL),
    "UnknownExclusive": LevelLock(exclusive=UNKNOWN),
    "AllExclusive": LevelLock(exclusive=ALL),
}
"""The kinds that take no names, with their locks."""

UNKNOWN_KIND: Final = f"unknown kind; must be one of {', '.join(KINDS)}"

# PostgreSQL cannot store NUL and lone surrogates; terminals interpret the other characters.
_UNSTORABLE: Final = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


def locks_from_json(document: object, place: str) -> Locks:
    """Return the locks of a document whose path is `place`; raise FaultyInput with all its faults."""
    return raising(lambda report: read_locks(document, (place,), report))


def stored_locks(document: Mapping[str, Any]) -> Locks:
    """Return the locks of a document that `locks_to_json` returned; equal locks are mostly one object."""
    if not document:
        return NO_LOCKS
    levels = tuple(_stored_lock(document[level]) if level in document else NO_LOCK for level in LEVELS)
    return _interned(Locks(levels, WHOLE_LAB in document))


@lru_cache(4_096)
def _interned(locks: Locks) -> Locks:
    """Return an equal object, one for many recipes: a long queue declares the same locks again and again."""
    return locks


def _stored_lock(form: Any) -> LevelLock:
    if isinstance(form, str):
        return UNNAMED[form]
    if isinstance(form, Mapping):
        ((kind, found),) = form.items()
        return LevelLock(shared=tuple(found)) if kind == SHARED else LevelLock(exclusive=tuple(found))
    one, other = map(_stored_lock, form)
    return LevelLock(one.shared or other.shared, one.exclusive or other.exclusive)


def raising(read: Callable[[Report], T]) -> T:
    """Return the result of `read`; raise FaultyInput with all faults that it reports."""
    faults: list[Fault] = []
    result = read(lambda path, message: faults.append(Fault(dotted(path), message)))
    if faults:
        raise FaultyInput(faults)
    return result


def read_locks(document: object, path: Path, report: Report) -> Locks:
    """Return the locks of a document at `path`; report every fault. A lock with a fault counts as None."""
    if not isinstance(document, Mapping):
        report(path, "must be an object with a lock for each level")
        return Locks()
    locks: dict[str, LevelLock] = {}
    for name, value in document.items():
        level = ALIASES.get(name, name)
        if level in locks:
            report((*path, name), f'the level "{level}" is given twice, by its name or by an alias')
        elif level in LEVELS:
            locks[level] = _level(value, (*path, name), report)
        elif name != WHOLE_LAB:
            report((*path, name), f"unknown level; must be one of {', '.join(LEVELS)}")
    whole_lab = document.get(WHOLE_LAB, False)
    if not isinstance(whole_lab, bool):
        report((*path, WHOLE_LAB), "must be true or false")
    return Locks(tuple(locks.get(level, NO_LOCK) for level in LEVELS), whole_lab is True)


def _level(value: object, path: Path, report: Report) -> LevelLock:
    if not isinstance(value, list | tuple):
        return _lock(value, path, report)
    if len(value) != 2:
        report(path, "a list must have two locks")
    locks = [_lock(lock, (*path, number), report) for number, lock in enumerate(value)]
    return normalised(join(*(lock.shared for lock in locks)), join(*(lock.exclusive for lock in locks)))


def _lock(value: object, path: Path, report: Report) -> LevelLock:
    if isinstance(value, str) and value in UNNAMED:
        return UNNAMED[value]
    if isinstance(value, str) and value in NAMED:
        report(path, f'needs names, such as {{"{value}": ["a"]}}')
    elif isinstance(value, Mapping) and len(value) == 1:
        ((kind, given),) = value.items()
        return _named(kind, given, (*path, kind), report)
    elif isinstance(value, Mapping):
        report(path, "a lock has one kind; write two locks as a list")
    else:
        report(path, UNKNOWN_KIND)
    return NO_LOCK


def _named(kind: str, given: object, path: Path, report: Report) -> LevelLock:
    if kind in UNNAMED:
        report(path, f'takes no names; write "{kind}"')
    elif kind not in NAMED:
        report(path, UNKNOWN_KIND)
    elif not isinstance(given, list | tuple) or not given:
        report(path, "must be a list of at least one name")
    else:
        found = names(*read_names(given, path, report))
        return LevelLock(shared=found) if kind == SHARED else LevelLock(exclusive=found)
    return NO_LOCK


def read_names(given: Iterable[object], path: Path, report: Report) -> Iterator[str]:
    """Yield the names of a list at `path`; report every fault."""
    for number, name in enumerate(given):
        found = read_name(name, (*path, number), report)
        if found is not None:
            yield found


def read_name(name: object, path: Path, report: Report) -> str | None:
    """Return a name; if it has a fault, report the fault and return None."""
    if not isinstance(name, str):
        report(path, "must be a text")
    elif not name.strip():
        report(path, "must not be empty")
    elif _UNSTORABLE.search(name):
        report(path, "must not contain control characters")
    else:
        return name.strip()
    return None


def locks_to_json(locks: Locks) -> dict[str, Any]:
    """Return the document of the locks, without levels that have none; `{}` if nothing is locked."""
    if locks == NO_LOCKS:
        return {}
    document = {
        level: _level_to_json(lock) for level, lock in zip(LEVELS, locks.levels, strict=True) if any(lock)
    }
    return {**document, WHOLE_LAB: True} if locks.whole_lab else document


def _level_to_json(lock: LevelLock) -> Any:
    forms = [_form(part, kind) for part, kind in zip(lock, NAMED, strict=True) if part]
    return forms if len(forms) > 1 else forms[0]


def _form(part: Part, kind: str) -> Any:
    return {kind: list(part)} if isinstance(part, tuple) else f"{part}{kind}"
