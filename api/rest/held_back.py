"""The rows of admission that hold recipe sets back, in reads.

The explaining process of a partition computes these rows, because only the state of the scheduler has the
room under limits. Reads ask these processes only about sets that some row could hold back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from typing import Any

from api.rest import concerned_partitions, paging
from api.rest.explainer_answers import ask
from api.rest.partitions import document_of
from api.rest.ports import ExplainParts, RecipeParts
from api.rest.waiting_sets import WaitingSets
from domain.admission.dependencies import dependency_to_json
from domain.admission.job_filters import JobFilters
from domain.admission.reason_limits import buckets
from domain.directory.partition_queues import queue_tree_of
from domain.directory.partitions import KIND, Document, configuration_of, job_filters_of
from domain.recipe_set.state import RecipeSet
from projections.reader import At

HeldBack = list[dict[str, str]] | None
"""The rows that hold a set back; None if the explaining process has not read the log in time."""


async def held_back_of(
    parts: ExplainParts, at: At, sets: Iterable[WaitingSets], unplaced: Collection[int]
) -> dict[int, HeldBack]:
    """Return the rows that hold back each of these sets, none for those without `unplaced` recipes."""
    found = await asyncio.gather(*(_held_back_in(parts, at, each, unplaced) for each in sets))
    return {number: rows for of_partition in found for number, rows in of_partition.items()}


async def _held_back_in(
    parts: ExplainParts, at: At, sets: WaitingSets, unplaced: Collection[int]
) -> dict[int, HeldBack]:
    concerns_all = _has_rules(sets.document)
    asked = [
        number
        for number in sets.set_ids
        if number in unplaced and (concerns_all or number in sets.conditional)
    ]
    found: dict[int, HeldBack] = {number: [] for number in sets.set_ids}
    if asked:
        now = paging.moment_of(at, parts)
        answer = await ask(parts, sets.identity, "held_back", at, now=now, recipe_set_ids=asked)
        rows: list[HeldBack] = answer.get("held_back", [None] * len(asked))
        found.update(zip(asked, rows, strict=True))
    return found


def _has_rules(document: Document) -> bool:
    """Return whether some row of admission may apply to a set without dependencies and reasons."""
    configuration = configuration_of(document)
    tree = queue_tree_of(configuration, document)
    has_rules_of_queues = tree.has_maxima or bool(tree.stopped)
    has_job_filters = bool(document.get("job_filters"))
    return has_job_filters or has_rules_of_queues or configuration.limits.placed_recipes is not None


async def admission_of(parts: RecipeParts, at: At, recipe_set_id: int) -> dict[str, Any]:
    """Return the dependencies of a set, its job filter, its buckets, and whether it is preemptible."""
    identity = await concerned_partitions.of_subject(parts, "recipe-set", recipe_set_id)
    recipe_set, documents = await asyncio.gather(
        asyncio.to_thread(parts.aggregates.as_of, f"recipe-set/{recipe_set_id}", at.position),
        parts.reader.rows("document", {"kind": KIND, "name": identity.name, "at": at.position}),
    )
    assert isinstance(recipe_set, RecipeSet), "the read models have the set"
    job_filters = job_filters_of(document_of(identity, documents))
    applying = JobFilters(job_filters).applying(recipe_set.facts)
    return {
        "depends_on": [dependency_to_json(each) for each in recipe_set.depends_on],
        "job_filter": None if applying is None else {"name": applying.name, "action": applying.action},
        "buckets": [bucket._asdict() for bucket in buckets(recipe_set.submitted.reasons)],
        "preemptible": recipe_set.preemptible,
    }
