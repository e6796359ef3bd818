"""Questions about matches: the body of a request to /matches as a question to the explaining processes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, Final, NamedTuple

import orjson

from api.intake import ReadJob
from api.rest.body import parse_json
from api.rest.context import Principal
from api.rest.contract.operation import JSON
from api.rest.estimates import NewRecipe
from api.rest.ports import MatchParts
from api.rest.resources import unsubmitted_recipes
from api.rest.resources.job_bodies import read_job
from api.use_cases.choose_trees import require_bounded
from api.use_cases.place_job import place
from domain.errors import Fault, FaultyInput, Unreadable
from domain.partition_numbers import PartitionIdentity

_FILTER_KEYS: Final = ({"host_requires"}, {"host_requires_xml"})
# A filter is read as part of a minimal job, at this path and with these other fields of the recipe.
_FILTER_PATH: Final = "recipe_sets[0].recipes[0]"
_OTHER_FIELDS: Final = {"distro_requires_xml": "<distroRequires/>", "tasks": [{"name": "/any"}]}


class MatchQuestion(NamedTuple):
    """A question to the explaining processes, and the warnings of the body.

    For a job it has the partition of the job, and for each recipe that needs a system its location in the job
    and the recipe for an estimate.
    """

    kind: str
    arguments: dict[str, Any]
    warnings: Iterable[Fault]
    locations: tuple[str, ...] = ("",)
    new_recipes: tuple[NewRecipe, ...] = ()
    partition: PartitionIdentity | None = None


async def read_question(
    parts: MatchParts, principal: Principal, body: bytes, media_type: str, *, strict: bool
) -> MatchQuestion:
    """Return the question of a body with a job or a host requirement.

    Raises InvalidJob, Unreadable, and FaultyInput.
    """
    parsing = parts.active_requests.parsing
    caller = principal.limit_key
    bare = await parsing.run(caller, len(body), partial(_bare_requirement, body, media_type))
    if bare is not None:
        job = await _job_of_filter(parts, principal, bare, strict=strict)
        await require_bounded(parts, job.spec, principal.user)
        arguments = {"host_requires": job.spec.recipe_sets[0].recipes[0].host_requires}
        return MatchQuestion("matches", arguments, map(_without_job_path, job.warnings))
    spec, warnings = await read_job(parts, principal, body, media_type, strict=strict)
    placement = await place(parts, [spec], principal.user)
    sets = unsubmitted_recipes.recipe_sets(spec, spec.owner or principal.user, placement)
    return MatchQuestion(
        "job_matches",
        {"recipe_sets": sets, "now": parts.clock().isoformat()},
        warnings,
        tuple(unsubmitted_recipes.locations(spec, is_xml=media_type != JSON)),
        tuple(unsubmitted_recipes.compared(spec, placement)),
        placement.partition,
    )


def _bare_requirement(body: bytes, media_type: str) -> dict[str, Any] | None:
    """Return a host requirement without a job; None for any other body, which is read as a job."""
    if media_type != JSON:
        return None
    try:
        document = parse_json(body)
    except Unreadable:
        return None
    return document if isinstance(document, dict) and document.keys() in _FILTER_KEYS else None


async def _job_of_filter(
    parts: MatchParts, principal: Principal, bare: dict[str, Any], *, strict: bool
) -> ReadJob:
    job = orjson.dumps({"recipe_sets": [{"recipes": [{**bare, **_OTHER_FIELDS}]}]})
    try:
        return await read_job(parts, principal, job, JSON, strict=strict)
    except FaultyInput as faulty:
        faults = [_without_job_path(fault) for fault in faulty.faults]
        raise type(faulty)(faults) from None


def _without_job_path(fault: Fault) -> Fault:
    return Fault(fault.where.partition(f"{_FILTER_PATH}.")[2] or fault.where, fault.message)
