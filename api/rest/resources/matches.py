"""/matches: systems that could run a job, before it is submitted"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from falcon.asgi import Request, Response

from api.rest import paging, visibility
from api.rest.body import read_body
from api.rest.context import Principal, principal_of, query_of
from api.rest.contract import queries
from api.rest.contract.answers import explanations as answers
from api.rest.contract.inputs.jobs import Matchable
from api.rest.contract.operation import JSON, operation
from api.rest.estimates import NewRecipe, estimates_of_new
from api.rest.ports import MatchParts
from api.rest.resources.found_matches import find_matches
from api.rest.resources.job_bodies import job_media_type, warnings_document
from api.rest.resources.match_questions import read_question
from domain.errors import Fault, FaultyInput
from projections.reader import At

# An answer has an entry for each pair of system and recipe. This number takes some 60 MB, in two processes.
MAX_ENTRIES: Final = 200_000


class Matches:
    def __init__(self, parts: MatchParts) -> None:
        self._parts = parts

    @operation(
        "Find the systems that could run a job, or match a host requirement",
        answers.Matches,
        queries.Strict,
        body=Matchable,
        takes=(JSON, "application/xml", "text/xml"),
        is_read=True,
    )
    async def on_post(self, req: Request, resp: Response) -> None:
        media_type, body = job_media_type(req), await read_body(req)
        strict = query_of(req, queries.Strict).strict
        paging.answer(
            resp, *await matches_answer(self._parts, principal_of(req), body, media_type, strict=strict)
        )


async def matches_answer(
    parts: MatchParts, principal: Principal, body: bytes, media_type: str, *, strict: bool = False
) -> tuple[int, dict[str, Any]]:
    """Return the matches of all systems that the principal sees, and their position.

    Raises InvalidJob, Unreadable, and FaultyInput for too many recipes.
    """
    question = await read_question(parts, principal, body, media_type, strict=strict)
    hidden = visibility.hidden_now(principal, parts)
    registered_count = sum(1 for _ in parts.feed.directory.items("system"))
    require_few(len(question.locations), registered_count - len(hidden))
    async with parts.active_requests.matches.hold(principal.user):
        found = await find_matches(parts, question, hidden)
        estimates = await _estimates(parts, question.new_recipes, found.why_never)
    recipes = [
        {"where": location, "systems": systems, "why_never": why_never, "estimate": estimate}
        for location, systems, why_never, estimate in zip(
            question.locations, found.systems, found.why_never, estimates, strict=True
        )
    ]
    # In a thread, because it would block the event loop for milliseconds.
    systems = await asyncio.to_thread(_combined, recipes)
    warnings = warnings_document(question.warnings)
    return found.position, {"systems": systems, "recipes": recipes, "warnings": warnings}


def require_few(recipes: int, systems: int) -> None:
    """Raise FaultyInput if an answer for several recipes would be too large."""
    limit = max(1, MAX_ENTRIES // max(1, systems))
    if recipes > limit:
        message = (
            f"has {recipes} recipes that need a system; for {systems} systems at most {limit} are allowed"
        )
        raise FaultyInput([Fault("body", message)])


async def _estimates(
    parts: MatchParts, recipes: Sequence[NewRecipe], why_never: Sequence[str | None]
) -> list[dict[str, Any] | None]:
    """Return the estimate for each recipe that some system could run.

    There is none for a host requirement alone, and none while the read models are being built.
    """
    reader = parts.reader
    possible = [each for each, reason in zip(recipes, why_never, strict=False) if reason is None]
    if not possible or not reader.is_whole:
        return [None] * len(why_never)
    estimates = iter(await estimates_of_new(parts, At(reader.position), possible))
    return [next(estimates) if reason is None else None for reason in why_never]


def _combined(recipes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the match of each system: viable for some recipe, else the reasons of all recipes."""
    if len(recipes) == 1:
        only: list[dict[str, Any]] = recipes[0]["systems"]
        return only
    combined = []
    for of_system in zip(*(recipe["systems"] for recipe in recipes), strict=True):
        viable = any(one["viable"] for one in of_system)
        reasons = [
            f"{recipe['where']}: {reason}"
            for recipe, one in zip(recipes, of_system, strict=True)
            for reason in one["reasons"]
            if not viable
        ]
        combined.append({"fqdn": of_system[0]["fqdn"], "viable": viable, "reasons": reasons})
    return combined
