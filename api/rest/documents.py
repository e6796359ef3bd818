"""/users, /groups, /pools, /lab-controllers, /distro-trees: things given as a whole by PUT."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

from falcon.asgi import Request, Response
from pydantic import BaseModel, TypeAdapter, ValidationError

from api.rest import reading
from api.rest.body import read_model
from api.rest.contract import inputs, queries
from api.rest.contract import named_answers as named
from api.rest.contract.operation import Operation, operation
from api.rest.contract.values import Fqdn, Name, Number
from api.rest.principal import request_of
from api.services import Request as Requested
from api.services import Services
from api.store.requests import Committed
from api.use_cases.passwords import set_password
from api.use_cases.put_document import enable_lab_controller, move_system, put_document, remove_tree
from api.use_cases.remove_document import remove_document
from domain.directory.roles import SUBMITTER
from domain.errors import Fault, FaultyInput, Unknown
from domain.names import called

NAME: TypeAdapter[Any] = TypeAdapter(Name)
FQDN: TypeAdapter[Any] = TypeAdapter(Fqdn)
NUMBER: TypeAdapter[Any] = TypeAdapter(Number)


class Shapes(NamedTuple):
    """The JSON of one kind of document: as it is given, listed, shown, and answered when given or removed."""

    given: type[BaseModel]
    listed: type[BaseModel]
    shown: type[BaseModel]
    put: type[BaseModel]
    removed: type[BaseModel] = named.NamedRemoved


USERS = Shapes(inputs.User, named.UserList, named.UserShown, named.UserPut)
GROUPS = Shapes(inputs.Group, named.GroupList, named.GroupShown, named.GroupPut)
POOLS = Shapes(inputs.Pool, named.PoolList, named.PoolShown, named.PoolPut)
LABS = Shapes(
    inputs.LabController,
    named.LabControllerList,
    named.LabControllerShown,
    named.LabControllerPut,
    named.LabControllerRemoved,
)
TREES = Shapes(
    inputs.DistroTree,
    named.DistroTreeList,
    named.DistroTreeShown,
    named.DistroTreePut,
    named.DistroTreeRemoved,
)


class Documents:
    """One kind of document. `called` checks the name in the path, `key` is its field in answers."""

    def __init__(
        self,
        services: Services,
        kind: str,
        shapes: Shapes,
        key: str = "name",
        called: TypeAdapter[Any] = NAME,
    ) -> None:
        self._services = services
        self._kind = kind
        self._key = key
        self._called = called
        self._plural = f"{kind.replace('-', '_')}s"
        words = kind.replace("-", " ")
        self.operations = {
            "on_get_list": Operation(f"List the {words}s", shapes.listed, queries.Page),
            "on_get": Operation(f"Show a {words}", shapes.shown, queries.Read, versioned=True),
            "on_put": Operation(f"Give a {words}", shapes.put, body=shapes.given, versioned=True),
            "on_delete": Operation(f"Remove a {words}", shapes.removed, versioned=True),
        }

    async def on_get_list(self, req: Request, resp: Response) -> None:
        page = await reading.read_page(req, self._services, first="")
        asked = {"kind": self._kind, "at": page.at, "limit": page.limit, "after": page.after}
        rows = await self._services.reader.rows("documents", asked)
        beside = await self._beside(req)
        shown = [{**beside(row["name"]), **self._shown(row)} for row in rows]
        reading.answer_list(req, resp, page, self._plural, shown, rows[-1]["name"] if rows else None)

    async def on_get(self, req: Request, resp: Response, name: str) -> None:
        at = await reading.read_at(req, self._services)
        row = await self._services.reader.row("document", {"kind": self._kind, "name": name, "at": at})
        if row is None:
            raise Unknown(called(self._kind, name))
        resp.etag = str(row["version"])
        beside = await self._beside(req)
        reading.answer_read(req, resp, at, {**beside(name), **self._shown(row)})

    async def on_put(self, req: Request, resp: Response, name: str) -> None:
        self._check_name(name)
        model: BaseModel = await read_model(req)
        document = self._completed(name, model.model_dump(mode="json"))
        known = self._services.feed.directory.get(self._kind, name) is not None
        done = await put_document(self._services, request_of(req), self._kind, name, document)
        told = {"added": done is not None and not known, "changed": done is not None and known}
        answer = {self._key: _key(self._key, name), **document, **told}
        await reading.answer_write(resp, self._services, done, answer)

    async def on_delete(self, req: Request, resp: Response, name: str) -> None:
        self._check_name(name)
        done = await self._remove(request_of(req), name)
        answer = {self._key: _key(self._key, name), "removed": done is not None}
        await reading.answer_write(resp, self._services, done, answer)

    async def _remove(self, request: Requested, name: str) -> Committed | None:
        return await remove_document(self._services, request, self._kind, name)

    def _completed(self, name: str, document: dict[str, Any]) -> dict[str, Any]:
        """The document with what it need not say."""
        return document

    def _check_name(self, name: str) -> None:
        try:
            self._called.validate_python(name)
        except ValidationError as error:
            faults = [Fault("path", f"{name!r}: {found['msg']}") for found in error.errors()]
            raise FaultyInput(faults) from error

    async def _beside(self, req: Request) -> Callable[[str], dict[str, Any]]:
        """What an answer says of each beside its document."""
        return lambda name: {}

    def _shown(self, row: dict[str, Any]) -> dict[str, Any]:
        return {self._key: _key(self._key, row["name"]), **row["document"]}


class Users(Documents):
    """Users have roles, which an admin gives."""

    def __init__(self, services: Services) -> None:
        super().__init__(services, "user", USERS)

    def _completed(self, name: str, document: dict[str, Any]) -> dict[str, Any]:
        """Who is only named again stays what it is."""
        if document["roles"] is not None:
            return document
        entry = self._services.feed.directory.get("user", name)
        return {**document, "roles": entry.document["roles"] if entry else [SUBMITTER]}

    @operation("Set a password", named.PasswordSet, body=inputs.NewPassword, versioned=True)
    async def on_put_password(self, req: Request, resp: Response, name: str) -> None:
        asked: inputs.NewPassword = await read_model(req)
        done = await set_password(
            self._services, request_of(req), name, asked.password, asked.current_password
        )
        await reading.answer_write(resp, self._services, done, {"user": name})


class Pools(Documents):
    """Pools have systems as well, put in and taken out one by one."""

    def __init__(self, services: Services) -> None:
        super().__init__(services, "pool", POOLS)

    @operation("Put a system into a pool", named.PoolMember, versioned=True)
    async def on_put_system(self, req: Request, resp: Response, name: str, fqdn: str) -> None:
        await self._move(req, resp, name, fqdn, member=True)

    @operation("Take a system out of a pool", named.PoolMember, versioned=True)
    async def on_delete_system(self, req: Request, resp: Response, name: str, fqdn: str) -> None:
        await self._move(req, resp, name, fqdn, member=False)

    async def _move(self, req: Request, resp: Response, name: str, fqdn: str, *, member: bool) -> None:
        done = await move_system(self._services, request_of(req), name, fqdn, member=member)
        answer = {"pool": name, "fqdn": fqdn, "member": member}
        await reading.answer_write(resp, self._services, done, answer)


class DistroTrees(Documents):
    """Distro trees leave and come back."""

    def __init__(self, services: Services) -> None:
        super().__init__(services, "distro-tree", TREES, "id", NUMBER)

    def _completed(self, name: str, document: dict[str, Any]) -> dict[str, Any]:
        """When it was first given, later documents need not repeat."""
        if document["added_at"] is not None:
            return document
        entry = self._services.feed.directory.get("distro-tree", name)
        added_at = entry.document["added_at"] if entry else self._services.moment()
        return {**document, "added_at": added_at}

    async def _remove(self, request: Requested, name: str) -> Committed | None:
        return await remove_tree(self._services, request, name)


class LabControllers(Documents):
    """Lab controllers are enabled and disabled. When one was last heard is told of now, never of then."""

    def __init__(self, services: Services) -> None:
        super().__init__(services, "lab-controller", LABS, "fqdn", FQDN)

    @operation(
        "Enable or disable a lab controller",
        named.LabControllerChanged,
        body=inputs.LabController,
        versioned=True,
    )
    async def on_patch(self, req: Request, resp: Response, name: str) -> None:
        change: inputs.LabController = await read_model(req)
        wanted = change.enabled if change.model_fields_set else None
        done = await enable_lab_controller(self._services, request_of(req), name, wanted)
        await reading.answer_write(resp, self._services, done, {"fqdn": name, "changed": done is not None})

    async def _beside(self, req: Request) -> Callable[[str], dict[str, Any]]:
        heard: dict[str, datetime] = {}
        if req.get_param("as_of") is None:
            heard = await asyncio.to_thread(self._services.contacts.last_heard)
        return lambda name: {"silent": False, "last_heard_at": heard.get(name)}


def _key(key: str, name: str) -> int | str:
    return int(name) if key == "id" else name
