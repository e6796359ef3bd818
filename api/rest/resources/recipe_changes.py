"""Changes of recipes: the document of a set with a changed recipe, from the body of a request."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson

from api.rest.context import Principal
from api.rest.contract.operation import JSON
from api.rest.ports import SubmissionParts
from api.rest.resources.job_bodies import read_added_sets, warnings_document
from api.rest.resources.sent_faults import sent_faults
from api.use_cases.change_recipe import change_recipe, present_set
from api.use_cases.own_partition import partition_of
from api.use_cases.ports import RequestContext
from api.use_cases.rights import own_recipe
from domain.errors import FaultyInput
from domain.recipe_set.state import RecipeSet
from store.requests import Committed

# Fields that say the same in different forms: a given one replaces all others.
_ALTERNATIVES: Final = (
    ("host_requires", "host_requires_xml"),
    ("distro_requires", "distro_requires_xml", "distro"),
)
# Of a set these stay, and were checked when it was submitted.
_KEPT: Final = ("key", "depends_on", "reasons")


async def change_by_patch(
    parts: SubmissionParts,
    principal: Principal,
    request: RequestContext,
    recipe_id: int,
    patch: Mapping[str, Any],
) -> tuple[Committed | None, Sequence[Mapping[str, str]]]:
    """Change fields of a recipe; return the commit, None if nothing differs, and warnings.

    A null field is removed. Raises the errors of `own_recipe` and `change_recipe`, and FaultyInput with all
    faults of a recipe that could not have been submitted so.
    """
    recipe, job = await asyncio.to_thread(own_recipe, parts, request, recipe_id)
    subject = f"recipe-set/{recipe.recipe_set_id}"
    recipe_set = (await asyncio.to_thread(parts.aggregates.load, [subject]))[subject]
    assert isinstance(recipe_set, RecipeSet), "recipe sets are never removed"
    seen = (await asyncio.to_thread(present_set, parts.log, job, recipe_set)).document
    where, document = _patched(seen, recipe_set.recipe_ids.index(recipe_id), patch)
    body = orjson.dumps({"recipe_sets": [document]})
    partition = await partition_of(parts, job)
    try:
        read = await read_added_sets(parts, principal, body, JSON, job, partition.name)
    except FaultyInput as error:
        raise FaultyInput(sent_faults(error.faults, where, "recipe")) from error
    done = await change_recipe(parts, request, recipe_id, job, seen, read.spec)
    return done, warnings_document(sent_faults(read.warnings, where, "recipe"))


def _patched(recipe_set: Mapping[str, Any], place: int, patch: Mapping[str, Any]) -> tuple[str, Any]:
    """Return the path of the recipe at a place, hosts before their guests, and the set after its change."""
    hosts = list(recipe_set["recipes"])
    places = [
        (number, index)
        for number, host in enumerate(hosts)
        for index in (None, *range(len(host.get("guests", ()))))
    ]
    number, index = places[place]
    where = f"recipe_sets[0].recipes[{number}]"
    if index is None:
        hosts[number] = _with(hosts[number], patch)
    else:
        where = f"{where}.guests[{index}]"
        guests = list(hosts[number]["guests"])
        guests[index] = _with(guests[index], patch)
        hosts[number] = {**hosts[number], "guests": guests}
    rest = {name: value for name, value in recipe_set.items() if name not in _KEPT}
    return where, {**rest, "recipes": hosts}


def _with(recipe: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    replaced = {name for names in _ALTERNATIVES if not patch.keys().isdisjoint(names) for name in names}
    kept = {name: value for name, value in recipe.items() if name not in replaced}
    return {name: value for name, value in {**kept, **patch}.items() if value is not None}
