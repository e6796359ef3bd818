"""The current reasons why recipes wait, in reads.

The explaining processes find them, because only the state of the scheduler says what a recipe waits for.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from api.rest import concerned_partitions, paging, partitions, visibility
from api.rest.explainer_answers import ask
from api.rest.ports import ExplainParts
from api.rest.views import View
from domain.partition_numbers import PartitionIdentity
from domain.priority import Priority
from domain.scheduling.supply.waiting_reasons import SENTENCES
from projections.reader import At

CurrentReason = dict[str, str] | None
"""The code and the text of a reason; None if the recipe does not wait any more, or if there is no answer."""


async def reasons_of(
    parts: ExplainParts, view: View, at: At, recipe_ids: Collection[int]
) -> dict[int, CurrentReason]:
    """Return the current reason of each of these recipes, as of a position or of the end of the log."""
    divided = await concerned_partitions.of_subjects(parts, "recipe", recipe_ids)
    question = {"now": paging.moment_of(at, parts), "unknown": _unknown(parts, view)}

    async def of_partition(identity: PartitionIdentity, members: list[int]) -> dict[int, CurrentReason]:
        answer = await ask(parts, identity, "reasons", at, recipe_ids=members, **question)
        return dict(zip(members, answer.get("reasons", ()), strict=False))

    found = await asyncio.gather(*(of_partition(*each) for each in divided.items()))
    return {number: reason for reasons in found for number, reason in reasons.items()}


async def counts_answer(
    parts: ExplainParts, view: View, partition: str | None, min_position: int = 0
) -> tuple[int, dict[str, Any]]:
    """Return the unplaced recipes by reason, priority and lab, with the position that all counts reflect.

    Counts of the present may be some seconds old, but reflect `min_position`. Raises Unknown for the
    partition, StillReading and ChildFailed.
    """
    number = await partitions.number_at(parts, view.at, partition)
    numbers = await partitions.numbers_at(parts, view.at) if number is None else [number]
    rows = await parts.reader.rows("partitions_with_queue", {"at": view.position, "partitions": numbers})
    waiting = [await concerned_partitions.with_number(parts, row["partition"]) for row in rows]
    question: dict[str, Any] = {
        "at": view.position if view.is_past else None,
        "now": paging.moment_of(view.at, parts),
        "unknown": _unknown(parts, view),
        "min_position": min_position,
    }
    asking = (parts.explainers.ask(each, "reason_counts", **question) for each in waiting)
    answers = await asyncio.gather(*asking)
    position = min((answer["position"] for answer in answers), default=view.position)
    body = {
        **_counted(answers),
        "partitions": [
            {"name": identity.name, "position": answer["position"]}
            for identity, answer in zip(waiting, answers, strict=True)
        ],
    }
    return position, body if view.at.moment is None else {"as_of": view.at.moment, **body}


def _unknown(parts: ExplainParts, view: View) -> list[str]:
    return list(visibility.unknown_now(view.principal, parts))


def _counted(answers: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the sums over partitions, with reasons in the order of their codes."""
    by_reason: dict[str, Counter[str]] = {code: Counter() for code in SENTENCES}
    by_lab = Counter[str]()
    for answer in answers:
        for row in answer["reasons"]:
            by_reason[row["code"]][row["priority"]] += row["recipes"]
        by_lab.update(answer["lab_controllers"])
    return {
        **_by_priority(sum(by_reason.values(), Counter[str]())),
        "reasons": [
            {"code": code, "text": SENTENCES[code], **_by_priority(counts)}
            for code, counts in by_reason.items()
            if counts
        ],
        "lab_controllers": [{"name": name, "recipes": by_lab[name]} for name in sorted(by_lab)],
    }


def _by_priority(counts: Mapping[str, int]) -> dict[str, Any]:
    names = [each.name for each in reversed(Priority) if counts.get(each.name)]
    return {"recipes": sum(counts.values()), "by_priority": {name: counts[name] for name in names}}
