"""/lab-controllers/{fqdn}/commands: commands of a lab controller, and reports on them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

import falcon
from falcon.asgi import Request, Response

from api.rest import paging
from api.rest.body import read_model
from api.rest.context import Principal, principal_of, query_of, request_of
from api.rest.contract import queries
from api.rest.contract.answers import labs as answers
from api.rest.contract.inputs.labs import CommandReport
from api.rest.contract.operation import operation
from api.rest.ports import CommandParts
from api.use_cases.report_command import report_command
from api.use_cases.report_drafts import CommandItem
from api.use_cases.resolve import existing
from api.use_cases.tokens import is_valid_token
from domain.errors import TooOften, Unknown, display_name
from domain.recipe.watchdog import of_task
from projections.reader import At

KIND = "lab-controller"
MAX_COMMANDS = 500
# Job documents are read in batches; a page of commands ends when its documents reach this size.
BATCH = 50
MAX_PAGE_BYTES = 2**20
# Per lab controller and process: each waiting request queries again whenever the read models move.
MAX_WAITING = 16
RETRY_SECONDS = 5

Row = dict[str, Any]
DocumentRecipe = Mapping[str, Any]
"""A recipe of a job document."""

# The fields of a command that are copied from the document, with their defaults.
COPIED_FIELDS: Final[Mapping[str, Any]] = {
    "whiteboard": "",
    "role": None,
    "kernel_options": "",
    "kernel_options_post": "",
    "ks_meta": "",
    "kickstart": None,
    "ks_appends": (),
    "packages": (),
    "repos": (),
    "partitions": (),
    "watchdog": {},
    "reservesys": None,
}


class Commands:
    def __init__(self, parts: CommandParts) -> None:
        self._parts = parts
        self._waiting = Counter[str]()

    @operation(
        "List the next commands of a lab controller, and wait for one if requested",
        *(answers.LabCommands, queries.CommandQuery),
    )
    async def on_get(self, req: Request, resp: Response, name: str) -> None:
        """Answer the commands. A read of the past does not wait, and may be of a removed lab controller."""
        query = query_of(req, queries.CommandQuery)
        if query.as_of is None:
            await existing(self._parts.feed, KIND, name)
        at = await paging.read_at(req, self._parts)
        if query.as_of is not None:
            await self._require_existed(name, at)
        params = {
            "lab_controller": name,
            "after": query.after,
            "limit": MAX_COMMANDS,
            "unfinished": query.unfinished,
            "then": query.as_of is not None,
        }
        rows = await self._parts.reader.rows("commands", {**params, "at": at.position})
        if not rows and query.wait_seconds and query.as_of is None:
            position, rows = await self._wait(params, at.position, query.wait_seconds)
            at = At(position)
            self._require_valid_token(principal_of(req))
        paging.answer_read(resp, at, {"commands": await self._commands(rows, name)})

    async def _commands(self, rows: list[Row], name: str) -> list[Row]:
        """Return the commands with parts of job documents: at least one, at most MAX_PAGE_BYTES of parts."""
        commands: list[Row] = []
        size_bytes = 0
        for first in range(0, len(rows), BATCH):
            batch = rows[first : first + BATCH]
            recipes = await self._recipes(batch)
            for row in batch:
                recipe = recipes.get(row["recipe_id"])
                size_bytes += recipe["size_bytes"] if recipe else 0
                if commands and size_bytes > MAX_PAGE_BYTES:
                    return commands
                commands.append(lab_command(row, name, recipe))
        return commands

    async def _recipes(self, rows: list[Row]) -> dict[int, Row]:
        provisions = [row for row in rows if row["kind"] == "provision" and row["recipe_id"] is not None]
        if not provisions:
            return {}
        params = {
            "recipe_ids": [row["recipe_id"] for row in provisions],
            "job_ids": list(dict.fromkeys(row["job_id"] for row in provisions)),
        }
        found = await self._parts.reader.rows("recipes_in_documents", params)
        return {row["recipe_id"]: row for row in found}

    def _require_valid_token(self, principal: Principal) -> None:
        """Raise HTTPUnauthorized if the token was revoked, or has expired, during the wait."""
        if not is_valid_token(self._parts, principal.token_id):
            raise falcon.HTTPUnauthorized(
                description="this token was revoked or has expired",
                challenges=('Bearer error="invalid_token"',),
            )

    async def _require_existed(self, name: str, at: At) -> None:
        params = {"kind": KIND, "name": name, "at": at.position}
        if await self._parts.reader.row("document", params) is None:
            raise Unknown(display_name(KIND, name))

    async def _wait(self, params: dict[str, Any], at: int, seconds: int) -> tuple[int, list[Row]]:
        """Wait for a command. Raises TooOften if `MAX_WAITING` requests wait for the same lab."""
        name = params["lab_controller"]
        if self._waiting[name] >= MAX_WAITING:
            raise TooOften(f"{MAX_WAITING} requests already wait for {name}, the maximum", RETRY_SECONDS)
        self._waiting[name] += 1
        try:
            return await self._poll(params, at, min(seconds, self._parts.max_waits.long_poll_seconds))
        finally:
            self._waiting[name] -= 1
            if not self._waiting[name]:
                del self._waiting[name]

    async def _poll(self, params: dict[str, Any], at: int, seconds: float) -> tuple[int, list[Row]]:
        reader, deadline = self._parts.reader, time.monotonic() + seconds
        rows: list[Row] = []
        while not rows and not self._parts.feed.is_closing and (left := deadline - time.monotonic()) > 0:
            await reader.changed(at, min(left, 1.0))
            at = reader.position
            rows = await reader.rows("commands", {**params, "at": at})
        return at, rows

    @operation("Report the state of a command", answers.CommandReported, body=CommandReport)
    async def on_patch_one(self, req: Request, resp: Response, name: str, command_id: int) -> None:
        report: CommandReport = await read_model(req)
        item = CommandItem(command_id, report.state, report.reason, report.power_failed)
        done = await report_command(self._parts, request_of(req), name, item)
        body = {"id": command_id, "state": report.state}
        await paging.answer_write(resp, self._parts.log, done, body)


def lab_command(row: Row, lab_controller: str, document: Row | None) -> Row:
    """Return a command with all data to execute it. One without a recipe is for a person.

    `document` has the recipe of the job document, and the ids of its guests in the same order.
    """
    command = {name: row[name] for name in ("kind", "system", "recipe_id", "attempt", "state")}
    command["id"] = row["command_id"]
    if row["kind"] == "delete-logs":
        return {**command, "job_id": row["job_id"], "recipe_ids": row["recipe_ids"] or []}
    if row["kind"] != "provision":
        return {**command, "reason": row["cause_reason"]}
    recipe: DocumentRecipe = {} if document is None else document["recipe"]
    of_guests = (
        {} if document is None else dict(zip(document["guest_ids"], recipe.get("guests", ()), strict=False))
    )
    guests = [_guest(guest, lab_controller, of_guests.get(guest["recipe_id"], {})) for guest in row["guests"]]
    of_set = {name: row[name] for name in ("job_id", "recipe_set_id", "members")}
    return {**command, **_installation(row, lab_controller, recipe), **of_set, "guests": guests}


def _guest(guest: Row, lab_controller: str, recipe: DocumentRecipe) -> Row:
    named = {name: guest[name] for name in ("recipe_id", "guestname", "guestargs")}
    return {**named, **_installation(guest, lab_controller, recipe)}


def _installation(row: Row, lab_controller: str, recipe: DocumentRecipe) -> Row:
    """Return the distribution to install, and the tasks. `distro` is a recipe's own, in place of a tree."""
    tree = row["tree"]
    return {
        "distro_tree": tree
        and {"id": row["distro_tree_id"], "name": tree["name"], "urls": tree["urls"].get(lab_controller, [])},
        "distro": row["distro"],
        **{name: recipe.get(name, default) for name, default in COPIED_FIELDS.items()},
        "tasks": [_task(task) for task in row["tasks"] or ()],
    }


def _task(task: Row) -> Row:
    return {
        "id": task["task_id"],
        "name": task["name"],
        "role": task["role"],
        "params": task["params"],
        "fetch": task.get("fetch"),
        "watchdog_seconds": of_task(task["params"]),
    }
