"""The operation table: locks that tasks declare, by the name of the task and by that of its operation.

`operations.json` has the shipped rows. The configuration of a partition adds rows and replaces rows.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Final

from domain.contention.algebra import merge
from domain.contention.documents import raising
from domain.contention.locks import NO_LOCKS, UNKNOWN, Locks, Part, names_in
from domain.contention.operation_rows import PARAMETER, OperationRow, read_rows
from domain.contention.own_names import with_names
from domain.requirements.findings import Path, Report

OPERATION_PARAMETER: Final = "LABLEDGER_OPERATION"
"""The task parameter that names an operation of a task, beside those of the name of the task."""


class OperationTable:
    """Rows by operation. A task that several rows are for declares the locks of all of them."""

    def __init__(self, rows: Iterable[OperationRow] = ()) -> None:
        self._by_operation = {row.operation: row for row in rows}
        self._by_task: defaultdict[str, list[OperationRow]] = defaultdict(list)
        for row in self.rows:
            for task in row.tasks:
                self._by_task[task].append(row)
        # The tasks whose names declare locks.
        self._declaring = frozenset(
            task for task, found in self._by_task.items() if any(row.locks != NO_LOCKS for row in found)
        )

    @property
    def rows(self) -> tuple[OperationRow, ...]:
        return tuple(self._by_operation.values())

    def merged_with(self, rows: Iterable[OperationRow]) -> OperationTable:
        """Return a table with these rows, too; a row replaces the one of its operation."""
        return OperationTable((*self.rows, *rows))

    def may_declare(self, task: str, params: Mapping[str, str]) -> bool:
        """Return whether a task may declare locks, or name an unknown operation; most tasks do neither."""
        return task in self._declaring or OPERATION_PARAMETER in params

    def resolve(self, task: str, params: Mapping[str, str], path: Path, report: Report) -> Locks | None:
        """Return the locks that a task declares, None if no row is for it; own names stay as they are.

        Report an unknown operation; `path` is the path of the parameters.
        """
        rows = self._rows_of(task, params, path, report)
        return merge(*(_filled_in(row.locks, params) for row in rows)) if rows else None

    def operations_of(self, task: str, params: Mapping[str, str]) -> tuple[str, ...]:
        """Return the operations of a task, none if no row is for it."""
        return tuple([row.operation for row in self._rows_of(task, params, (), _ignore)])

    def operation_with(self, name: str, task: str, params: Mapping[str, str]) -> str | None:
        """Return the first operation of a task with this literal name in its locks, None if none has it."""
        rows = self._rows_of(task, params, (), _ignore)
        return next((row.operation for row in rows if name in names_in(row.locks)), None)

    def _rows_of(
        self, task: str, params: Mapping[str, str], path: Path, report: Report
    ) -> list[OperationRow]:
        of_name = self._by_task.get(task, [])
        operation = params.get(OPERATION_PARAMETER)
        if operation is None:
            return of_name
        if operation not in self._by_operation:
            message = f'there is no operation "{operation}"; must be one of {", ".join(self._by_operation)}'
            report((*path, OPERATION_PARAMETER), message)
            return of_name
        row = self._by_operation[operation]
        return of_name if row in of_name else [*of_name, row]


def _ignore(path: Path, message: str) -> None:
    """Report nothing."""


def _filled_in(locks: Locks, params: Mapping[str, str]) -> Locks:
    return with_names(locks, {name: _value(name, params) for name in names_in(locks)})


def _value(name: str, params: Mapping[str, str]) -> Part:
    """Return a literal name as it is, and the value of a parameter; Unknown if it is missing or empty."""
    if not (found := PARAMETER.fullmatch(name)):
        return (name,)
    value = params.get(found[1], "")
    return (value.strip(),) if value.strip() else UNKNOWN


def _shipped() -> OperationTable:
    document = json.loads(files(__package__).joinpath("operations.json").read_text("utf-8"))
    return OperationTable(raising(lambda report: read_rows(document, ("operations",), report)))


SHIPPED: Final = _shipped()
"""The rows of `operations.json`."""
