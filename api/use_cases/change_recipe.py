"""Changes of the requirements, tasks and locks of recipes, until their set starts (design 6)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from api.use_cases.choose_trees import distro_trees
from api.use_cases.commit import append_for, commit, require_expected
from api.use_cases.own_partition import partition_of
from api.use_cases.ports import JobParts, Log, RequestContext
from domain.directory.partitions import operation_table
from domain.errors import Fault, FaultyInput, Refused
from domain.events import Decided
from domain.job.changes import change_faults, chooses_trees, new_task_count, set_change
from domain.job.recipe_changes import change_recipes
from domain.job.spec import JobSpec
from domain.job.state import Job
from domain.partition_numbers import PartitionIdentity
from domain.priority import Priority
from domain.recipe.events import RecipeChanged, RecipeNew
from domain.recipe_set.events import RecipeSetChanged
from domain.recipe_set.state import RecipeSet, change_priority
from store.requests import AppendRequest, Committed

Document = Mapping[str, Any]


class PresentSet(NamedTuple):
    """The document of a recipe set, and the last event of each recipe with its requirements and tasks."""

    document: Document
    recipes: Mapping[int, RecipeNew | RecipeChanged]


class ChangedSetDraft(NamedTuple):
    """The events of a changed set, none if nothing differs, and the versions that they depend on."""

    decided: Decided
    versions: Mapping[str, int]


def present_set(log: Log, job: Job, recipe_set: RecipeSet) -> PresentSet:
    """Return a set of a job as the log has it. Blocking."""
    subjects = {recipe_set.subject: 0, **{f"recipe/{number}": 0 for number in recipe_set.recipe_ids}}
    past = log.load(subjects)
    document = job.documents[recipe_set.recipe_set_id]
    for recorded in past[recipe_set.subject]:
        if isinstance(recorded.event, RecipeSetChanged):
            document = recorded.event.document
    recipes: dict[int, RecipeNew | RecipeChanged] = {}
    for number in recipe_set.recipe_ids:
        for recorded in past[f"recipe/{number}"]:
            if isinstance(recorded.event, RecipeNew | RecipeChanged):
                recipes[number] = recorded.event
    return PresentSet(document, recipes)


async def change_recipe(
    parts: JobParts, request: RequestContext, recipe_id: int, job: Job, seen: Document, spec: JobSpec
) -> Committed | None:
    """Change the set of a recipe to the only set of `spec`; None if nothing differs.

    `job` is that of `own_recipe`, which has checked the right of the caller. `seen` is the document of the
    set from which `spec` was made. Raises FaultyInput for fields that cannot be changed, Stale, and Refused
    for a set that has started, has finished or was changed in the meantime.
    """

    async def decide() -> AppendRequest | None:
        gathered = await asyncio.to_thread(parts.aggregates.gather, [f"recipe/{recipe_id}"])
        recipe = gathered.recipe(recipe_id)
        assert recipe is not None, "recipes are never removed"
        require_expected(request, recipe.subject, recipe.version)
        draft = await changed_set(parts, request, job, recipe.recipe_set_id, spec, 0, seen)
        return append_for(parts, request, draft.decided, draft.versions) if draft.decided else None

    return await commit(parts, decide)


async def changed_set(
    parts: JobParts,
    request: RequestContext,
    job: Job,
    recipe_set_id: int,
    spec: JobSpec,
    place: int,
    seen: Document | None = None,
) -> ChangedSetDraft:
    """Return the events that change a set of a job to the set of `spec` at `place`, and its priority.

    With `seen`, the present document of the set has to be this one, whose priority stays. Raises the errors
    of `change_recipe`.
    """
    # Before the log, whose events are then those of these versions, or the append is a conflict.
    gathered = await asyncio.to_thread(parts.aggregates.gather, [f"recipe-set/{recipe_set_id}"])
    recipe_set = gathered.recipe_set(recipe_set_id)
    assert recipe_set is not None, "recipe sets are never removed"
    present = await asyncio.to_thread(present_set, parts.log, job, recipe_set)
    if seen not in (None, present.document):
        raise Refused(f"recipe set {recipe_set_id} was changed in the meantime")
    given, after = spec.recipe_sets[place], {**spec.document["recipe_sets"][place], **_kept(seen)}
    before, priority = present.document, after["priority"]
    if faults := change_faults({**before, "priority": priority}, after):
        raise FaultyInput([Fault(f"recipe_sets[{place}].{fault.where}", fault.message) for fault in faults])
    members = gathered.members(recipe_set_id)
    same = priority == before["priority"]
    decided: Decided = [] if same else [*change_priority(recipe_set, members, Priority[priority])]
    if after != before:
        partition = await partition_of(parts, job)
        tree_ids = [recipe.distro_tree_id for recipe in present.recipes.values()]
        if chooses_trees(before, after):
            tree_ids = await _new_trees(parts, request, job, replace(spec, recipe_sets=(given,)), partition)
        count = new_task_count(before, after)
        # The number of a job that comes with them stays unused.
        tasks = (await parts.numbers.take((0, 0, count))).tasks if count else ()
        operations = operation_table(parts.feed.directory, partition.name)
        recipes, of_set = set_change(before, after, given, present.recipes, tree_ids, iter(tasks), operations)
        decided += change_recipes(recipe_set, members, recipes, of_set, parts.feed.distro_trees.misfit)
    return ChangedSetDraft(decided, gathered.versions)


def _kept(seen: Document | None) -> Document:
    """Return the fields of a set that a change of one of its recipes leaves out, and that stay."""
    names = ("key", "priority", "depends_on", "reasons")
    return {} if seen is None else {name: seen[name] for name in names if name in seen}


async def _new_trees(
    parts: JobParts, request: RequestContext, job: Job, spec: JobSpec, partition: PartitionIdentity
) -> list[int | None]:
    whole = replace(spec, owner=job.owner, group=job.group)
    return list((await distro_trees(parts, whole, request.actor, partition.number)).tree_ids)
