"""/users, /groups, /pools, /lab-controllers, /distro-trees: things given as a whole by PUT."""

from __future__ import annotations

from typing import Any

from falcon.asgi import Request, Response
from pydantic import BaseModel, TypeAdapter, ValidationError

from api.rest import reading
from api.rest.body import read_model
from api.rest.models import Fqdn, Name, Number, Pool
from api.rest.principal import request_of
from api.services import Services
from api.use_cases.put_document import move_system, put_document
from domain.errors import Fault, FaultyInput, Unknown

NAME: TypeAdapter[Any] = TypeAdapter(Name)
FQDN: TypeAdapter[Any] = TypeAdapter(Fqdn)
NUMBER: TypeAdapter[Any] = TypeAdapter(Number)


class Documents:
    """One kind of document. `called` checks the name in the path, `key` is its field in answers."""

    def __init__(
        self,
        services: Services,
        kind: str,
        model: type[BaseModel],
        key: str = "name",
        called: TypeAdapter[Any] = NAME,
    ) -> None:
        self._services = services
        self._kind = kind
        self._model = model
        self._key = key
        self._called = called
        self._plural = f"{kind.replace('-', '_')}s"

    async def on_get_list(self, req: Request, resp: Response) -> None:
        page = await reading.read_page(req, self._services.reader, first="")
        asked = {"kind": self._kind, "at": page.at, "limit": page.limit, "after": page.after}
        rows = await self._services.reader.rows("documents", asked)
        shown = [self._shown(row) for row in rows]
        reading.answer_list(req, resp, page, self._plural, shown, rows[-1]["name"] if rows else None)

    async def on_get(self, req: Request, resp: Response, name: str) -> None:
        at = await reading.read_at(req, self._services.reader)
        row = await self._services.reader.row("document", {"kind": self._kind, "name": name, "at": at})
        if row is None:
            raise Unknown(f"{self._kind} {name}")
        resp.etag = str(row["version"])
        reading.answer(resp, at, self._shown(row))

    async def on_put(self, req: Request, resp: Response, name: str) -> None:
        self._check_name(name)
        model = await read_model(req, self._model)
        document = model.model_dump(mode="json")
        if "added_at" in document and document["added_at"] is None:
            document["added_at"] = self._added_at(name)
        done = await put_document(self._services, request_of(req), self._kind, name, document)
        position = done.position if done else self._services.feed.position
        resp.status = 200
        reading.answer(resp, position, {self._key: _key(self._key, name), **document})

    def _added_at(self, name: str) -> str:
        """When it was first given, which later documents need not repeat."""
        entry = self._services.feed.directory.get(self._kind, name)
        return str(entry.document["added_at"]) if entry else self._services.moment()

    def _check_name(self, name: str) -> None:
        try:
            self._called.validate_python(name)
        except ValidationError as error:
            faults = [Fault("path", f"{name!r}: {found['msg']}") for found in error.errors()]
            raise FaultyInput(faults) from error

    def _shown(self, row: dict[str, Any]) -> dict[str, Any]:
        return {self._key: _key(self._key, row["name"]), **row["document"]}


class Pools(Documents):
    """Pools have systems as well, put in and taken out one by one."""

    def __init__(self, services: Services) -> None:
        super().__init__(services, "pool", Pool)

    async def on_put_system(self, req: Request, resp: Response, name: str, fqdn: str) -> None:
        await self._move(req, resp, name, fqdn, member=True)

    async def on_delete_system(self, req: Request, resp: Response, name: str, fqdn: str) -> None:
        await self._move(req, resp, name, fqdn, member=False)

    async def _move(self, req: Request, resp: Response, name: str, fqdn: str, *, member: bool) -> None:
        done = await move_system(self._services, request_of(req), name, fqdn, member=member)
        position = done.position if done else self._services.feed.position
        reading.answer(resp, position, {"pool": name, "fqdn": fqdn, "member": member})


def _key(key: str, name: str) -> int | str:
    return int(name) if key == "id" else name
