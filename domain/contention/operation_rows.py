"""Rows of the operation table, and their documents: those of the shipped file and of the configuration.

    {"operation": "move", "tasks": ["/lab/move"], "locks": {"system": {"Exclusive": ["$system", "{TARGET}"]}}}

Only `operation` is required. `whole_lab` stands among the locks or beside them; the canonical document has it
among them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from domain.contention.documents import locks_to_json, read_locks, read_name, read_names
from domain.contention.locks import WHOLE_LAB, Locks, names, names_in
from domain.requirements.findings import Path, Report

PARAMETER: Final = re.compile(r"\{([^{}]+)\}")
"""A name in the locks of a row that stands for the value of a task parameter."""

_FIELDS: Final = ("operation", "tasks", "locks", WHOLE_LAB)


class OperationRow(NamedTuple):
    """An operation, the tasks that it is for in alphabetical order, and the locks that these declare."""

    operation: str
    tasks: tuple[str, ...]
    locks: Locks


def read_rows(document: object, path: Path, report: Report) -> tuple[OperationRow, ...]:
    """Return the rows of a document at `path`; report every fault. Use the rows only if it has none."""
    if not isinstance(document, list | tuple):
        report(path, "must be a list")
        return ()
    rows: dict[str, OperationRow] = {}
    for number, form in enumerate(document):
        row = _row(form, (*path, number), report)
        if row is not None and row.operation in rows:
            report((*path, number, "operation"), f'"{row.operation}" occurs twice')
        elif row is not None:
            rows[row.operation] = row
    return tuple(rows.values())


def _row(form: object, path: Path, report: Report) -> OperationRow | None:
    if not isinstance(form, Mapping):
        report(path, "must be an object")
        return None
    for name in form:
        if name not in _FIELDS:
            report((*path, name), f"is unknown; the fields are {', '.join(_FIELDS)}")
    operation = _operation(form, (*path, "operation"), report)
    tasks = _tasks(form.get("tasks", ()), (*path, "tasks"), report)
    locks = _locks(form, path, report)
    return None if operation is None else OperationRow(operation, tasks, locks)


def _operation(form: Mapping[str, Any], path: Path, report: Report) -> str | None:
    if "operation" in form:
        return read_name(form["operation"], path, report)
    report(path, "is missing")
    return None


def _tasks(form: object, path: Path, report: Report) -> tuple[str, ...]:
    if not isinstance(form, list | tuple):
        report(path, "must be a list")
        return ()
    return names(*read_names(form, path, report))


def _locks(form: Mapping[str, Any], path: Path, report: Report) -> Locks:
    locks = read_locks(form.get("locks", {}), (*path, "locks"), report)
    for name in names_in(locks):
        if ("{" in name or "}" in name) and not PARAMETER.fullmatch(name):
            report((*path, "locks"), f'"{name}" is neither a literal name nor {{PARAMETER}} alone')
    whole_lab = form.get(WHOLE_LAB, False)
    if not isinstance(whole_lab, bool):
        report((*path, WHOLE_LAB), "must be true or false")
    return Locks(locks.levels, locks.whole_lab or whole_lab is True)


def row_to_json(row: OperationRow) -> dict[str, Any]:
    """Return the canonical document of a row, with all fields but `whole_lab`."""
    return {"operation": row.operation, "tasks": list(row.tasks), "locks": locks_to_json(row.locks)}
