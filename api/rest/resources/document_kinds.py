"""/users, /groups, /pools, /lab-controllers, /distro-trees: one resource for each kind."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from falcon.asgi import Request, Response
from pydantic import TypeAdapter

from api.rest import paging, partitions
from api.rest.body import read_model
from api.rest.context import query_of, request_of
from api.rest.contract import queries
from api.rest.contract.answers import documents as answers
from api.rest.contract.answers.access import PasswordSet
from api.rest.contract.inputs import documents as inputs
from api.rest.contract.inputs.access import NewPassword
from api.rest.contract.operation import Operation, operation
from api.rest.contract.values import Fqdn, Number
from api.rest.ports import DocumentParts
from api.rest.resources.documents import Documents, Shapes, check_name, containing
from api.rest.views import View
from api.use_cases.move_system import move_system
from api.use_cases.passwords import set_password
from api.use_cases.ports import RequestContext
from api.use_cases.put_document import change_lab_controller
from api.use_cases.remove_lab import remove_lab
from api.use_cases.remove_used import remove_used
from domain.directory.documents import MAX_EXTENSION_SECONDS
from domain.directory.partition_queues import partitions_naming
from domain.directory.rejections import FIELD as REJECTED
from domain.directory.roles import SUBMITTER
from domain.errors import Fault, FaultyInput
from domain.partition_numbers import DEFAULT_NUMBER
from domain.rfc3339 import rfc3339
from domain.system.failures import BROKEN_AFTER
from store.requests import Committed

FQDN: TypeAdapter[Any] = TypeAdapter(Fqdn)
NUMBER: TypeAdapter[Any] = TypeAdapter(Number)

USERS = Shapes(inputs.User, answers.UserList, answers.UserShown, answers.UserPut, answers.PersonRemoved)
GROUPS = Shapes(inputs.Group, answers.GroupList, answers.GroupShown, answers.GroupPut, answers.PersonRemoved)
POOLS = Shapes(inputs.Pool, answers.PoolList, answers.PoolShown, answers.PoolPut)
LABS = Shapes(
    inputs.LabController,
    answers.LabControllerList,
    answers.LabControllerShown,
    answers.LabControllerPut,
    answers.LabControllerRemoved,
)
TREES = Shapes(
    inputs.DistroTree,
    answers.DistroTreeList,
    answers.DistroTreeShown,
    answers.DistroTreePut,
    answers.DistroTreeRemoved,
)


class People(Documents):
    """Users or groups, which configurations of partitions name. A removal leaves these names there."""

    def _remaining_references(self, name: str) -> dict[str, Any]:
        return {"named_in": partitions_naming(self._parts.feed.directory, self.kind, name)}


class UsedDocuments(Documents):
    """Users or pools, which are removed only with force while something uses them."""

    async def _remove(self, req: Request, name: str) -> Committed | None:
        query, request = query_of(req, queries.UsedQuery), request_of(req)
        return await remove_used(
            self._parts, request, self.kind, name, force=query.force, reason=query.reason
        )


class Users(UsedDocuments, People):
    def __init__(self, parts: DocumentParts) -> None:
        super().__init__(parts, "user", USERS)
        does = "Remove a user; with force also one with unfinished jobs, systems or groups"
        self.operations["on_delete"] = Operation(does, USERS.removed, queries.UsedQuery, versioned=True)

    def _defaults(self) -> dict[str, Any]:
        return {"roles": [SUBMITTER]}

    async def _further_fields(self, view: View) -> Callable[[str], dict[str, Any]]:
        return lambda name: {"ldap": None}

    @operation("Set the password of a user", PasswordSet, body=NewPassword, versioned=True)
    async def on_put_password(self, req: Request, resp: Response, name: str) -> None:
        new: NewPassword = await read_model(req)
        done = await set_password(self._parts, request_of(req), name, new.password, new.current_password)
        await paging.answer_write(resp, self._parts.log, done, {"user": name})


class Groups(People):
    list_query = queries.GroupPage

    def __init__(self, parts: DocumentParts) -> None:
        super().__init__(parts, "group", GROUPS)

    async def _filters(self, view: View, query: queries.Page) -> Mapping[str, Any]:
        assert isinstance(query, queries.GroupPage)
        user = query.user
        return {} if user is None else containing({"members": [user]}, {"owners": [user]})


class Pools(UsedDocuments):
    """Pools. Systems are added and removed one by one; the access policy has its own path."""

    list_query = queries.PoolPage

    def __init__(self, parts: DocumentParts) -> None:
        super().__init__(parts, "pool", POOLS)
        does = "Remove a pool; with force also one that has systems, or that jobs or windows name"
        self.operations["on_delete"] = Operation(does, POOLS.removed, queries.UsedQuery, versioned=True)

    def _defaults(self) -> dict[str, Any]:
        return {"description": ""}

    async def _filters(self, view: View, query: queries.Page) -> Mapping[str, Any]:
        assert isinstance(query, queries.PoolPage)
        group = query.owner_group
        return {} if group is None else containing({"owner_group": group})

    @operation("Add a system to a pool", answers.PoolMember, versioned=True)
    async def on_put_system(self, req: Request, resp: Response, name: str, fqdn: str) -> None:
        await self._move(req, resp, name, fqdn, member=True)

    @operation("Remove a system from a pool", answers.PoolMember, queries.EndingQuery, versioned=True)
    async def on_delete_system(self, req: Request, resp: Response, name: str, fqdn: str) -> None:
        reason = query_of(req, queries.EndingQuery).reason
        await self._move(req, resp, name, fqdn, member=False, reason=reason)

    def _shown(self, row: dict[str, Any]) -> dict[str, Any]:
        shown = super()._shown(row)
        shown.pop("access_policy", None)
        return shown

    async def _move(
        self, req: Request, resp: Response, pool: str, fqdn: str, *, member: bool, reason: str | None = None
    ) -> None:
        request = request_of(req)
        done = await move_system(self._parts, request, pool, fqdn, member=member, reason=reason)
        answer = {"pool": pool, "fqdn": fqdn, "member": member}
        await paging.answer_write(resp, self._parts.log, done, answer)


class DistroTrees(Documents):
    """Distro trees, named by numbers."""

    def __init__(self, parts: DocumentParts) -> None:
        super().__init__(parts, "distro-tree", TREES, "id", NUMBER)

    def proposed(self) -> dict[str, Any]:
        """Return nothing, since the time of a form that stays open would be an old one."""
        return {}

    def _defaults(self) -> dict[str, Any]:
        return {"added_at": rfc3339(self._parts.clock())}


class LabControllers(Documents):
    """Lab controllers. Answers about the past have no last contact, which is not recorded in the log."""

    list_query = queries.PartitionPage
    list_refusals = (404,)

    def __init__(self, parts: DocumentParts) -> None:
        super().__init__(parts, "lab-controller", LABS, "fqdn", FQDN)
        does = "Remove a lab controller; with force abort its recipes and remove its systems first"
        self.operations["on_delete"] = Operation(does, LABS.removed, queries.ForceQuery, versioned=True)

    def _defaults(self) -> dict[str, Any]:
        return {"broken_after": BROKEN_AFTER, "max_extension_seconds": MAX_EXTENSION_SECONDS}

    @operation(
        "Enable or disable a lab controller, or change its limits",
        answers.LabControllerChanged,
        body=inputs.LabControllerPatch,
        versioned=True,
    )
    async def on_patch(self, req: Request, resp: Response, name: str) -> None:
        change: inputs.LabControllerPatch = await read_model(req)
        _check_reason(change.model_dump())
        changes = change.model_dump(exclude_unset=True)
        done = await change_lab_controller(self._parts, request_of(req), name, changes)
        await paging.answer_write(resp, self._parts.log, done, {"fqdn": name, "changed": done is not None})

    async def put(
        self, request: RequestContext, name: str, given: dict[str, Any]
    ) -> tuple[dict[str, Any], Committed | None]:
        """Register, change or disable a lab controller; return it, without the reason, and the commit."""
        _check_reason(given)
        if given.get("reason") is not None and self._parts.feed.directory.get("lab-controller", name) is None:
            raise FaultyInput([Fault("reason", "requires a registered lab controller, which it disables")])
        document, done = await super().put(request, name, given)
        return {field: value for field, value in document.items() if field != "reason"}, done

    async def on_delete(self, req: Request, resp: Response, name: str) -> None:
        check_name(self._names, name)
        query = query_of(req, queries.ForceQuery)
        request = request_of(req)
        done = await remove_lab(self._parts, request, name, force=query.force, reason=query.reason)
        await paging.answer_write(resp, self._parts.log, done, {"fqdn": name, "removed": done is not None})

    async def _filters(self, view: View, query: queries.Page) -> Mapping[str, Any]:
        assert isinstance(query, queries.PartitionPage)
        number = await partitions.number_at(self._parts, view.at, query.partition)
        return await partitions.labs_of(self._parts, view.at, number)

    def _shown(self, row: dict[str, Any]) -> dict[str, Any]:
        number = row["document"].get("partition", DEFAULT_NUMBER)
        names = self._parts.feed.directory.partition_names
        # `/reconciliations` has the refused items.
        shown = {field: value for field, value in super()._shown(row).items() if field != REJECTED}
        return {**shown, "partition": names.get(number)}

    async def _further_fields(self, view: View) -> Callable[[str], dict[str, Any]]:
        # `_shown` needs the names of all partitions of this read.
        await partitions.lab_partitions(self._parts, view.at)
        heard: dict[str, datetime] = {}
        if not view.is_past:
            heard = await asyncio.to_thread(self._parts.contacts.last_heard)
        return lambda name: {
            "silent": False,
            "never_heard": False,
            **self._defaults(),
            "last_heard_at": heard.get(name),
        }


def _check_reason(lab_controller: Mapping[str, Any]) -> None:
    """Raise FaultyInput for a reason of a lab controller that is not disabled."""
    if lab_controller.get("reason") is not None and lab_controller["enabled"]:
        raise FaultyInput([Fault("reason", "requires enabled: false")])
