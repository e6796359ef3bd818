"""Documents with names, such as users and pools: the common part of all kinds."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from falcon.asgi import Request, Response
from pydantic import BaseModel, TypeAdapter, ValidationError

from api.rest import paging
from api.rest.body import read_model
from api.rest.context import query_of, request_of
from api.rest.contract import queries
from api.rest.contract.answers.documents import NamedRemoved
from api.rest.contract.faults import faults_of
from api.rest.contract.operation import Operation
from api.rest.contract.values import Name
from api.rest.ports import DocumentParts
from api.rest.views import View, read_view
from api.use_cases.ports import RequestContext
from api.use_cases.put_document import put_document
from api.use_cases.remove_document import remove_document
from domain.errors import Fault, FaultyInput, Unknown, display_name
from projections.sql import ANY_DOCUMENT
from store.requests import Committed

NAME: TypeAdapter[Any] = TypeAdapter(Name)


class Shapes(NamedTuple):
    """The JSON models of one kind of document: for input, lists, reads, and answers to PUT and DELETE."""

    given: type[BaseModel]
    listed: type[BaseModel]
    shown: type[BaseModel]
    put: type[BaseModel]
    removed: type[BaseModel] = NamedRemoved


class Documents:
    """The resource of one kind. `names` validates the name in the path; `key` is its field in answers."""

    # The filters of the list, and further statuses that it answers.
    list_query: type[queries.Page] = queries.Page
    list_refusals: tuple[int, ...] = ()

    def __init__(
        self,
        parts: DocumentParts,
        kind: str,
        shapes: Shapes,
        key: str = "name",
        names: TypeAdapter[Any] = NAME,
    ) -> None:
        self._parts = parts
        self.kind = kind
        self._key = key
        self._names = names
        self.plural = f"{kind.replace('-', '_')}s"
        words = kind.replace("-", " ")
        self.operations = {
            "on_get_list": Operation(
                f"List the {words}s", shapes.listed, self.list_query, refuses=self.list_refusals
            ),
            "on_get": Operation(f"Show a {words}", shapes.shown, queries.ReadQuery, versioned=True),
            "on_put": Operation(
                f"Register or change a {words}", shapes.put, body=shapes.given, versioned=True
            ),
            "on_delete": Operation(f"Remove a {words}", shapes.removed, queries.EndingQuery, versioned=True),
        }

    async def on_get_list(self, req: Request, resp: Response) -> None:
        view = await read_view(req, self._parts)
        page = paging.page_at(req, view.at, first="")
        found = await self.listed(view, query_of(req, self.list_query), page)
        paging.answer_listed(req, resp, page, self.plural, found)

    async def on_get(self, req: Request, resp: Response, name: str) -> None:
        view = await read_view(req, self._parts)
        version, body = await self.answer(view, name)
        paging.answer_read(resp, view.at, body, version=version)

    async def listed(self, view: View, query: queries.Page, page: paging.PageAt) -> paging.Listed:
        """Return a page of the documents, by name. Raises Unknown for a partition in the query."""
        params = {"kind": self.kind, "at": view.position, "limit": page.limit, "after": page.after}
        params |= {**ANY_DOCUMENT, **await self._filters(view, query)}
        rows = await self._parts.reader.rows("documents", params)
        further_fields = await self._further_fields(view)
        shown = [{**further_fields(row["name"]), **self._shown(row)} for row in rows]
        return paging.listed(page, shown, rows[-1]["name"] if rows else None)

    async def answer(self, view: View, name: str) -> tuple[int, dict[str, Any]]:
        """Return the version of a document, and the answer about it. Raises Unknown."""
        params = {"kind": self.kind, "name": name, "at": view.position}
        row = await self._parts.reader.row("document", params)
        if row is None:
            raise Unknown(display_name(self.kind, name))
        further_fields = await self._further_fields(view)
        return row["version"], {**further_fields(name), **self._shown(row)}

    async def on_put(self, req: Request, resp: Response, name: str) -> None:
        check_name(self._names, name)
        model: BaseModel = await read_model(req)
        existed = self._parts.feed.directory.get(self.kind, name) is not None
        document, done = await self.put(request_of(req), name, model.model_dump(mode="json"))
        changed = {"added": done is not None and not existed, "changed": done is not None and existed}
        answer = {self._key: _key(self._key, name), **document, **changed}
        await paging.answer_write(resp, self._parts.log, done, answer)

    async def on_delete(self, req: Request, resp: Response, name: str) -> None:
        check_name(self._names, name)
        done = await self._remove(req, name)
        removed = {self._key: _key(self._key, name), "removed": done is not None}
        answer = {**removed, **self._remaining_references(name)}
        await paging.answer_write(resp, self._parts.log, done, answer)

    async def put(
        self, request: RequestContext, name: str, given: dict[str, Any]
    ) -> tuple[dict[str, Any], Committed | None]:
        """Register or change a document; return it completed, and the commit. Raises as `put_document`."""
        document = self._completed(name, given)
        return document, await put_document(self._parts, request, self.kind, name, document)

    def proposed(self) -> dict[str, Any]:
        """Return the optional fields of a new document with their defaults."""
        return self._defaults()

    def _completed(self, name: str, document: dict[str, Any]) -> dict[str, Any]:
        """Return the document with the present values of optional fields, otherwise their defaults."""
        defaults = self._defaults()
        entry = self._parts.feed.directory.get(self.kind, name)
        present = entry.document if entry else {}
        sources = (document, present, defaults)
        found = {
            field: next(source[field] for source in sources if source.get(field) is not None)
            for field in defaults
        }
        return {**document, **found}

    async def _remove(self, req: Request, name: str) -> Committed | None:
        reason = query_of(req, queries.EndingQuery).reason
        return await remove_document(self._parts, request_of(req), self.kind, name, reason)

    def _remaining_references(self, name: str) -> dict[str, Any]:
        """Return the fields of the answer to DELETE about references that remain."""
        return {}

    def _defaults(self) -> dict[str, Any]:
        """Return the fields that a client may omit, with their values in a new document."""
        return {}

    async def _filters(self, view: View, query: queries.Page) -> Mapping[str, Any]:
        """Return the parameters of `documents` that select those of the list; others are in ANY_DOCUMENT."""
        return {}

    async def _further_fields(self, view: View) -> Callable[[str], dict[str, Any]]:
        """Return a function from a name to further fields of its answer, which the document lacks."""
        return lambda name: {}

    def _shown(self, row: dict[str, Any]) -> dict[str, Any]:
        return {self._key: _key(self._key, row["name"]), **row["document"]}


def containing(*parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that select documents with one of these parts, such as `{"members": ["a"]}`."""
    return {"containing": [json.dumps(part) for part in parts]}


def check_name(names: TypeAdapter[Any], name: str) -> None:
    """Raise FaultyInput if the name in the path is not one of `names`."""
    try:
        names.validate_python(name)
    except ValidationError as error:
        faults = [Fault("path", f"{name!r} {fault.message}") for fault in faults_of(error)]
        raise FaultyInput(faults) from error


def _key(key: str, name: str) -> int | str:
    return int(name) if key == "id" else name
