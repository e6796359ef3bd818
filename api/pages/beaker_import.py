"""The page on which CSV files of Beaker are checked and imported."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import orjson
from falcon.asgi import Request, Response

from api.pages.forms import (
    FORM_WITH_FILES,
    KEY,
    VERSION,
    FormPart,
    form_request,
    new_key,
    read_form_parts,
    require_own_form,
)
from api.pages.page import show
from api.pages.security import HTML
from api.rest.body import check_model
from api.rest.contract.inputs.beaker import BeakerFiles
from api.rest.contract.operation import MAX_BATCH_BYTES, operation
from api.rest.contract.queries import ReadQuery
from api.rest.ports import PageParts
from api.rest.problems import status_of
from api.rest.resources.beaker_imports import import_answer
from domain.errors import Fault, FaultyInput, LabledgerError, NotPermitted, Refused
from domain.system.differences import OUTCOMES

# The changes of a large import would make a page of megabytes.
MAX_CHANGES: Final = 500
# The files that were checked come back with the form that imports them, as JSON.
FILES: Final = "files"
_FORM_BYTES: Final = 16 << 10


class BeakerImportPage:
    def __init__(self, parts: PageParts) -> None:
        self._parts = parts

    @operation("Show the page to import CSV files of Beaker", None, ReadQuery, gives=(HTML,))
    async def on_get(self, req: Request, resp: Response) -> None:
        await self._show(req, resp)

    @operation(
        "Check CSV files of Beaker, or import them",
        *(None, ReadQuery),
        takes=(FORM_WITH_FILES,),
        gives=(HTML,),
        # In JSON, line ends and quotation marks take two bytes.
        max_bytes=2 * MAX_BATCH_BYTES + _FORM_BYTES,
    )
    async def on_post(self, req: Request, resp: Response) -> None:
        parts = await read_form_parts(req)
        form = {part.name: part.text for part in parts}
        require_own_form(req, form)
        dry_run = "send" not in form
        try:
            request = form_request(req, {KEY: new_key(), **form, VERSION: "0"})
            files = await asyncio.to_thread(_files, parts)
            _, answer = await import_answer(req, self._parts, request, files, dry_run=dry_run)
        except FaultyInput as error:
            await self._show(req, resp, status=422, faults=error.faults)
        except (Refused, NotPermitted) as error:
            await self._show(req, resp, status=status_of(error), refusal=error)
        else:
            given = files.model_dump_json() if dry_run else ""
            await self._show(req, resp, answer=answer, given=given)

    async def _show(
        self,
        req: Request,
        resp: Response,
        *,
        status: int = 200,
        answer: Mapping[str, Any] | None = None,
        given: str = "",
        faults: Sequence[Fault] = (),
        refusal: LabledgerError | None = None,
    ) -> None:
        resp.status = status
        values = {
            "found": None if answer is None else await asyncio.to_thread(_shown, answer),
            "given": given,
            "faults": faults,
            "refusal": None if refusal is None else str(refusal),
            "key": new_key(),
        }
        await show(req, resp, self._parts, None, "beaker_import.html", values)


def _files(parts: Sequence[FormPart]) -> BeakerFiles:
    """Return the chosen files, or those that were checked before. Raises FaultyInput."""
    chosen = [
        {"name": part.file_name, "text": part.text}
        for part in parts
        if part.name == "file" and part.file_name
    ]
    checked = next((part.text for part in parts if part.name == FILES), "")
    if not chosen and not checked:
        raise FaultyInput([Fault("file", "choose one or more files")])
    if sum(len(file["text"].encode()) for file in chosen) > MAX_BATCH_BYTES:
        raise FaultyInput(
            [Fault("file", f"the files must not have more than {MAX_BATCH_BYTES} bytes together")]
        )
    try:
        document = {"files": chosen} if chosen else orjson.loads(checked)
    except orjson.JSONDecodeError as error:
        raise FaultyInput([Fault(FILES, "is not JSON")]) from error
    if not isinstance(document, dict):
        raise FaultyInput([Fault(FILES, "must be an object")])
    return check_model(document, BeakerFiles)


def _shown(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the counts of outcomes, and the first changes of systems and groups."""
    of_systems = [*_changes(answer["systems"], "fqdn")]
    of_groups = [*_changes(answer["groups"], "group")]
    changes = [*of_groups, *of_systems]
    return {
        "dry_run": answer["dry_run"],
        "sums": [_counted(kind, answer[f"{kind}s"]) for kind in ("system", "group")],
        "failures": [each for each in answer["systems"] if "outcome" not in each],
        "changes": changes[:MAX_CHANGES],
        "more_count": max(0, len(changes) - MAX_CHANGES),
        "warnings": answer["warnings"],
        "not_imported": answer["not_imported"],
    }


def _counted(kind: str, items: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    counts = {outcome: sum(each.get("outcome") == outcome for each in items) for outcome in OUTCOMES}
    return {"kind": kind, **counts}


def _changes(items: Sequence[Mapping[str, Any]], name: str) -> Iterator[dict[str, str]]:
    for item in items:
        for change in item.get("changes", ()):
            before, after = _text(change["from"]), _text(change["to"])
            row = {"property": change["property"], "before": before, "after": after}
            yield {"kind": name, "name": item[name], "outcome": item["outcome"], **row}


def _text(value: Any) -> str:
    if value in (None, "", [], {}):
        return ""
    return value if isinstance(value, str) else orjson.dumps(value).decode()
