"""A lab controller says how far it is with a command."""

from __future__ import annotations

import asyncio
from typing import Any

from api.services import Request, Services
from api.store.requests import Append
from api.use_cases.commit import append_of, commit
from api.use_cases.report_progress import Item, report_progress
from domain.command.lifecycle import report
from domain.errors import LabledgerError, Refused, Unknown
from domain.recipe.reports import ReportAborted


async def report_command(
    services: Services, request: Request, lab_controller: str, command_id: int, state: str, reason: str
) -> int | None:
    """The position of what changed, None when it was known. A command that failed aborts its recipe."""
    command = await services.reader.row("command", {"command_id": command_id})
    if command is None or command["lab_controller"] != lab_controller:
        raise Unknown(f"command {command_id} of {lab_controller}")
    subject = f"command/{command_id}"

    async def decide() -> Append | None:
        return await asyncio.to_thread(_decide, services, request, subject, state, reason)

    if await decide() is None:
        return None
    if state == "failed" and command["kind"] == "provision":
        # Before the command's own event: a report cut short between the two is simply made again.
        await _abort(services, request, command, reason)
    done = await commit(services, decide)
    return done.position if done else None


def _decide(services: Services, request: Request, subject: str, state: str, reason: str) -> Append | None:
    past = services.log.load({subject: 0})[subject]
    before = getattr(past[-1].event, "STATE", "queued") if past else "queued"
    event = report(subject, before, state, reason)
    return None if event is None else append_of(services, request, [(subject, event)], {subject: len(past)})


async def _abort(services: Services, request: Request, command: dict[str, Any], reason: str) -> None:
    why = f"command {command['command_id']} failed: {reason}"
    item = Item(command["recipe_id"], ReportAborted(reason=why))
    (answer,) = await report_progress(services, request, command["lab_controller"], [item])
    # A recipe that has ended or moved on meanwhile has nothing left to abort.
    if isinstance(answer, LabledgerError) and not isinstance(answer, Refused):
        raise answer
