"""/systems/{fqdn}/notes: notes of people on a system."""

from __future__ import annotations

from collections.abc import Sequence

from falcon.asgi import Request, Response

from api.rest import paging
from api.rest.body import parse_model, read_json_bytes
from api.rest.context import keyed_request, query_of, request_of
from api.rest.contract import queries
from api.rest.contract.answers import systems as answers
from api.rest.contract.inputs.systems import NewNote
from api.rest.contract.operation import operation
from api.rest.ports import ChangeParts, ReadParts
from api.rest.views import View, read_view
from api.use_cases.idempotency import commit_once
from api.use_cases.system_notes import add_note, remove_note
from domain.errors import Unknown, display_name
from projections.intervals import OPEN_UNTIL
from projections.read_sessions import NamedQuery, Row

# The key before all notes: the newest one comes first.
BEFORE_ALL = OPEN_UNTIL


def note_queries(view: View, fqdn: str, page: paging.PageAt) -> list[NamedQuery]:
    """Return the queries for a page of the notes on a system. Raises Unknown for a hidden system."""
    view.require_visible(fqdn)
    at = {"at": view.position, "fqdn": fqdn}
    return [("system_is_known", at), ("notes_of_system", {**at, "before": page.after, "limit": page.limit})]


def notes_from_rows(fqdn: str, page: paging.PageAt, rows: Sequence[list[Row]]) -> paging.Listed:
    """Return a page of notes from the rows of `note_queries`. Raises Unknown for the system."""
    found, notes = rows
    if not found:
        raise Unknown(display_name("system", fqdn))
    return paging.listed(page, notes, notes[-1]["id"] if notes else None)


async def note_list(parts: ReadParts, view: View, fqdn: str, page: paging.PageAt) -> paging.Listed:
    """Return a page of the notes on a system, newest first. Raises Unknown for the system."""
    return notes_from_rows(fqdn, page, await parts.reader.together(*note_queries(view, fqdn, page)))


class SystemNotes:
    def __init__(self, parts: ChangeParts) -> None:
        self._parts = parts

    @operation("List the notes on a system, newest first", answers.SystemNotes, queries.Page)
    async def on_get(self, req: Request, resp: Response, fqdn: str) -> None:
        view = await read_view(req, self._parts)
        page = paging.page_at(req, view.at, BEFORE_ALL)
        paging.answer_listed(req, resp, page, "notes", await note_list(self._parts, view, fqdn, page))

    @operation("Add a note to a system", answers.NoteAdded, body=NewNote, created=True, keyed=True)
    async def on_post(self, req: Request, resp: Response, fqdn: str) -> None:
        body = await read_json_bytes(req)
        note: NewNote = await parse_model(req, body)
        request = keyed_request(req, body)
        done = await commit_once(
            self._parts.log, request, lambda: add_note(self._parts, request, fqdn, note.text)
        )
        assert done is not None, "a new note is always something new"
        resp.status = 201
        resp.location = f"/systems/{fqdn}/notes"
        paging.answer(resp, done.position, {"id": done.position})

    @operation("Remove a note from a system", answers.NoteRemoved, queries.EndingQuery)
    async def on_delete_one(self, req: Request, resp: Response, fqdn: str, note_id: int) -> None:
        reason = query_of(req, queries.EndingQuery).reason
        done = await remove_note(self._parts, request_of(req), fqdn, note_id, reason)
        paging.answer(resp, done.position, {"id": note_id})
