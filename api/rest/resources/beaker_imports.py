"""/imports/beaker: import of Beaker's CSV files."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from falcon.asgi import Request, Response
from pydantic import ValidationError

from api.concurrency_limits import share_of
from api.intake.beaker_columns import KINDS
from api.intake.beaker_csv import BeakerRow, BeakerRows, read_files
from api.intake.line_faults import GroupedFaults, LineFault, grouped
from api.rest import paging
from api.rest.body import parse_model, read_json_bytes
from api.rest.context import client_address, keyed_request, query_of
from api.rest.contract.answers.beaker import BeakerImported
from api.rest.contract.faults import faults_of
from api.rest.contract.inputs.beaker import ROWS, BeakerFiles
from api.rest.contract.operation import MAX_BATCH_BYTES, operation
from api.rest.contract.queries import DryRunQuery
from api.rest.ports import ChangeParts
from api.rest.problems import problem_of
from api.rest.resources.shapes import shown_differences
from api.use_cases.beaker_decision import Outcome
from api.use_cases.import_beaker import (
    BeakerInput,
    ImportResult,
    SystemOutcome,
    import_beaker,
    preview_beaker,
)
from api.use_cases.ports import RequestContext
from api.use_cases.power import unusual_types
from domain.errors import LabledgerError
from domain.rfc3339 import rfc3339
from store.event_log import EventLog

_EMPTY: Final[tuple[Any, ...]] = (None, "", [], {})


class BeakerImports:
    def __init__(self, parts: ChangeParts) -> None:
        self._parts = parts

    @operation(
        "Import CSV files of Beaker: systems in one commit for each partition, groups in another",
        BeakerImported,
        DryRunQuery,
        body=BeakerFiles,
        max_bytes=MAX_BATCH_BYTES,
        keyed=True,
    )
    async def on_post(self, req: Request, resp: Response) -> None:
        body = await read_json_bytes(req)
        files: BeakerFiles = await parse_model(req, body)
        dry_run = query_of(req, DryRunQuery).dry_run
        request = keyed_request(req, body)
        done, answer = await import_answer(req, self._parts, request, files, dry_run=dry_run)
        paging.answer(resp, done.position or await paging.position_of(self._parts.log, None), answer)


async def import_answer(
    req: Request, parts: ChangeParts, request: RequestContext, files: BeakerFiles, *, dry_run: bool
) -> tuple[ImportResult, dict[str, Any]]:
    """Import files, or only check them; return what was imported, and the answer about it.

    Raises the errors of `import_beaker`.
    """
    size, read = sum(len(file.text) for file in files.files), partial(read_rows, files)
    found = await share_of(req).parse(client_address(req), size, read)
    found.warnings += await asyncio.to_thread(_unusual_types, parts.log, found.rows)
    given = BeakerInput(found.rows, found.faults, rfc3339(parts.clock()))
    done = await (preview_beaker if dry_run else import_beaker)(parts, request, given)
    # In a thread: that of thousands of systems takes longer than other requests may wait.
    return done, await asyncio.to_thread(_answer, done, found, dry_run)


def _unusual_types(log: EventLog, rows: Sequence[BeakerRow]) -> list[LineFault]:
    """Return a warning for each row with an unusual power type. Blocking."""
    needed = ("fqdn", "power_type")
    of_power = [row for row in rows if row.kind == "power" and all(map(row.values.get, needed))]
    types = {row.values["fqdn"]: row.values["power_type"] for row in of_power}
    unusual = unusual_types(log, types)
    return [
        row.fault("power_type", unusual[row.values["power_type"]])
        for row in of_power
        if row.values["power_type"] in unusual
    ]


def read_rows(files: BeakerFiles) -> BeakerRows:
    """Return the valid values of all rows, and the faults of all."""
    found = read_files((file.name, file.text) for file in files.files)
    found.rows = [_validated(row, found.faults) for row in found.rows]
    return found


def _validated(row: BeakerRow, faults: GroupedFaults) -> BeakerRow:
    """Return the row without its invalid values, and add their faults."""
    model = ROWS[row.kind]
    try:
        model.model_validate(row.values)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        # The reader has reported a value that is missing.
        invalid = {str(each["loc"][0]) for each in found} - row.faulty
        for fault in faults_of(error, model):
            column = fault.where.partition("[")[0].partition(".")[0]
            if column in invalid:
                faults.add(row.fault(column, fault.message))
        values = {name: value for name, value in row.values.items() if name not in invalid}
        return replace(row, values=values, faulty=row.faulty | invalid)
    return row


def _answer(done: ImportResult, found: BeakerRows, dry_run: bool) -> dict[str, Any]:
    return {
        "dry_run": dry_run,
        "systems": [_shown_system(fqdn, answer) for fqdn, answer in done.systems.items()],
        "groups": [{"group": name, **_shown(outcome)} for name, outcome in done.groups.items()],
        "warnings": [{"where": one.where, "message": one.message} for one in grouped(found.warnings)],
        "not_imported": [*_not_imported(found)],
    }


def _shown_system(fqdn: str, answer: SystemOutcome) -> dict[str, Any]:
    if isinstance(answer, LabledgerError):
        return {"fqdn": fqdn, **problem_of(answer)}
    return {"fqdn": fqdn, "status": 200, **_shown(answer)}


def _shown(outcome: Outcome) -> dict[str, Any]:
    # A new system also has properties without values.
    changes = (one for one in outcome.changes if one.before not in _EMPTY or one.after not in _EMPTY)
    return {"outcome": outcome.outcome, "changes": shown_differences(changes)}


def _not_imported(found: BeakerRows) -> Iterator[dict[str, Any]]:
    for name, count in sorted(found.counts.items()):
        if reason := KINDS[name].not_imported:
            yield {"kind": name, "rows": count, "reason": reason}
