"""/matches: systems that could run a job, before it is submitted"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import orjson
from falcon.asgi import Request, Response

from api.intake import ReadJob
from api.rest import concerned_partitions, paging, visibility
from api.rest.body import parse_json, read_body
from api.rest.concerned_partitions import NO_PARTITION
from api.rest.context import Principal, principal_of, query_of
from api.rest.contract import queries
from api.rest.contract.answers import explanations as answers
from api.rest.contract.inputs.jobs import Matchable
from api.rest.contract.operation import JSON, operation
from api.rest.estimates import NewRecipe, estimates_of_new
from api.rest.ports import MatchParts
from api.rest.resources import unsubmitted_recipes
from api.rest.resources.job_bodies import job_media_type, read_job, warnings_document
from api.use_cases.choose_trees import require_bounded
from api.use_cases.place_job import place
from domain.errors import Fault, FaultyInput, Unreadable
from domain.partition_numbers import PartitionIdentity
from projections.reader import At

FILTER_KEYS: Final = ({"host_requires"}, {"host_requires_xml"})
# A filter is read as part of a minimal job, at this path and with these other fields of the recipe.
FILTER_PATH: Final = "recipe_sets[0].recipes[0]"
OTHER_FIELDS: Final = {"distro_requires_xml": "<distroRequires/>", "tasks": [{"name": "/any"}]}

# An answer has an entry for each pair of system and recipe. This number takes some 60 MB, in two processes.
MAX_ENTRIES: Final = 200_000

Match = dict[str, Any]
"""A system, whether it is viable for a recipe, and otherwise why not."""


class Asked(NamedTuple):
    """A question to the explaining processes, and the warnings of the body.

    For a job it has the partition of the job, and for each recipe that needs a system its location in the job
    and the recipe for an estimate.
    """

    kind: str
    question: dict[str, Any]
    warnings: Iterable[Fault]
    where: tuple[str, ...] = ("",)
    compared: tuple[NewRecipe, ...] = ()
    partition: PartitionIdentity | None = None


class Found(NamedTuple):
    """The matches of each recipe, and why no lab could ever run it, as of a position."""

    position: int
    systems: list[list[Match]]
    why_never: list[str | None]


class Matches:
    def __init__(self, parts: MatchParts) -> None:
        self._parts = parts

    @operation(
        "Find the systems that could run a job, or match a host requirement",
        answers.Matches,
        queries.Strict,
        body=Matchable,
        takes=(JSON, "application/xml", "text/xml"),
    )
    async def on_post(self, req: Request, resp: Response) -> None:
        kind, body = job_media_type(req), await read_body(req)
        strict = query_of(req, queries.Strict).strict
        position, answer = await self.answer(principal_of(req), body, kind, strict=strict)
        paging.answer(resp, position, answer)

    async def answer(
        self, principal: Principal, body: bytes, kind: str, *, strict: bool = False
    ) -> tuple[int, dict[str, Any]]:
        """Return the matches of all systems that the principal sees, and their position.

        Raises InvalidJob, Unreadable, and FaultyInput for too many recipes.
        """
        asked = await self._asked(principal, body, kind, strict=strict)
        hidden = visibility.hidden_now(principal, self._parts)
        registered_count = sum(1 for _ in self._parts.feed.directory.items("system"))
        require_few(len(asked.where), registered_count - len(hidden))
        async with self._parts.active_requests.matches.hold(principal.user):
            found = await self._find(asked, hidden)
            estimates = await self._estimates(asked.compared, found.why_never)
        recipes = [
            {"where": where, "systems": systems, "why_never": why_never, "estimate": estimate}
            for where, systems, why_never, estimate in zip(
                asked.where, found.systems, found.why_never, estimates, strict=True
            )
        ]
        # In a thread, because it would block the event loop for milliseconds.
        systems = await asyncio.to_thread(_combined, recipes)
        return found.position, {
            "systems": systems,
            "recipes": recipes,
            "warnings": warnings_document(asked.warnings),
        }

    async def _find(self, asked: Asked, hidden: Collection[str]) -> Found:
        """Return for each recipe the matches of all systems, each judged by its own partition.

        The position is the one that all partitions have read. The partition of a job says what can never run.
        """
        own = [] if asked.partition is None else [asked.partition]
        identities = dict.fromkeys([*own, *concerned_partitions.with_labs(self._parts)])
        question = {**asked.question, "hidden": list(hidden)}
        answers = await asyncio.gather(
            *(self._parts.explainers.ask(identity, asked.kind, **question) for identity in identities)
        )
        parts: list[list[list[Match]]] = [answer["recipes"] for answer in answers]
        nobodys = [fqdn for fqdn in concerned_partitions.systems_in_none(self._parts) if fqdn not in hidden]
        if nobodys:
            unmatched = [{"fqdn": fqdn, "viable": False, "reasons": [NO_PARTITION]} for fqdn in nobodys]
            parts.append([unmatched] * len(asked.where))
        return Found(
            min(answer["position"] for answer in answers),
            # In a thread, for the same reason as above.
            parts[0] if len(parts) == 1 else await asyncio.to_thread(_merged, parts),
            answers[0]["why_never"] if own else [None],
        )

    async def _estimates(
        self, recipes: Sequence[NewRecipe], why_never: Sequence[str | None]
    ) -> list[dict[str, Any] | None]:
        """Return the estimate for each recipe that some system could run.

        There is none for a host requirement alone, and none while the read models are being built.
        """
        reader = self._parts.reader
        possible = [each for each, reason in zip(recipes, why_never, strict=False) if reason is None]
        if not possible or not reader.is_whole:
            return [None] * len(why_never)
        estimates = iter(await estimates_of_new(self._parts, At(reader.position), possible))
        return [next(estimates) if reason is None else None for reason in why_never]

    async def _asked(self, principal: Principal, body: bytes, kind: str, *, strict: bool) -> Asked:
        parsing = self._parts.active_requests.parsing
        caller = principal.limit_key
        alone = await parsing.run(caller, len(body), partial(_filter_alone, body, kind))
        if alone is not None:
            job = await self._of_filter(principal, alone, strict=strict)
            await require_bounded(self._parts, job.spec, principal.user)
            question = {"host_requires": job.spec.recipe_sets[0].recipes[0].host_requires}
            return Asked("matches", question, map(_as_alone, job.warnings))
        spec, warnings = await read_job(self._parts, principal, body, kind, strict=strict)
        placement = await place(self._parts, [spec], principal.user)
        sets = unsubmitted_recipes.recipe_sets(spec, spec.owner or principal.user, placement)
        return Asked(
            "job_matches",
            {"recipe_sets": sets, "now": self._parts.clock().isoformat()},
            warnings,
            tuple(unsubmitted_recipes.locations(spec, is_xml=kind != JSON)),
            tuple(unsubmitted_recipes.compared(spec, placement)),
            placement.partition,
        )

    async def _of_filter(self, principal: Principal, alone: dict[str, Any], *, strict: bool) -> ReadJob:
        job = orjson.dumps({"recipe_sets": [{"recipes": [{**alone, **OTHER_FIELDS}]}]})
        try:
            return await read_job(self._parts, principal, job, JSON, strict=strict)
        except FaultyInput as faulty:
            faults = [_as_alone(fault) for fault in faulty.faults]
            raise type(faulty)(faults) from None


def _merged(parts: list[list[list[Match]]]) -> list[list[Match]]:
    """Return for each recipe the matches of all partitions, by name.

    A system that moved meanwhile may have been judged by two partitions, or by none; once is enough.
    """
    return [
        [match for _, match in sorted({match["fqdn"]: match for part in of_recipe for match in part}.items())]
        for of_recipe in zip(*parts, strict=True)
    ]


def require_few(recipes: int, systems: int) -> None:
    """Raise FaultyInput if an answer for several recipes would be too large."""
    limit = max(1, MAX_ENTRIES // max(1, systems))
    if recipes > limit:
        message = (
            f"has {recipes} recipes that need a system; for {systems} systems at most {limit} are allowed"
        )
        raise FaultyInput([Fault("body", message)])


def _filter_alone(body: bytes, kind: str) -> dict[str, Any] | None:
    """Return a host requirement without a job; None for any other body, which is read as a job."""
    if kind != JSON:
        return None
    try:
        document = parse_json(body)
    except Unreadable:
        return None
    return document if isinstance(document, dict) and document.keys() in FILTER_KEYS else None


def _as_alone(fault: Fault) -> Fault:
    return Fault(fault.where.partition(f"{FILTER_PATH}.")[2] or fault.where, fault.message)


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
