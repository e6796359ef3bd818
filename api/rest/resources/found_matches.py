"""Matches of all systems, as the explaining processes of all partitions find them."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any, NamedTuple

from api.rest import concerned_partitions
from api.rest.concerned_partitions import NO_PARTITION
from api.rest.ports import MatchParts
from api.rest.resources.match_questions import MatchQuestion

Match = dict[str, Any]
"""A system, whether it is viable for a recipe, and otherwise why not."""


class FoundMatches(NamedTuple):
    """The matches of each recipe, and why no lab could ever run it, as of a position."""

    position: int
    systems: list[list[Match]]
    why_never: list[str | None]


async def find_matches(parts: MatchParts, question: MatchQuestion, hidden: Collection[str]) -> FoundMatches:
    """Return for each recipe the matches of all systems, each judged by its own partition.

    The position is the one that all partitions have read. The partition of a job says what can never run.
    """
    own = [] if question.partition is None else [question.partition]
    identities = dict.fromkeys([*own, *concerned_partitions.with_labs(parts)])
    arguments = {**question.arguments, "hidden": list(hidden)}
    answers = await asyncio.gather(
        *(parts.explainers.ask(identity, question.kind, **arguments) for identity in identities)
    )
    by_partition: list[list[list[Match]]] = [answer["recipes"] for answer in answers]
    in_no_partition = [fqdn for fqdn in concerned_partitions.systems_in_none(parts) if fqdn not in hidden]
    if in_no_partition:
        unmatched = [{"fqdn": fqdn, "viable": False, "reasons": [NO_PARTITION]} for fqdn in in_no_partition]
        by_partition.append([unmatched] * len(question.locations))
    return FoundMatches(
        min(answer["position"] for answer in answers),
        # In a thread, because it would block the event loop for milliseconds.
        by_partition[0] if len(by_partition) == 1 else await asyncio.to_thread(_merged, by_partition),
        answers[0]["why_never"] if own else [None],
    )


def _merged(by_partition: list[list[list[Match]]]) -> list[list[Match]]:
    """Return for each recipe the matches of all partitions, by name.

    A system that moved meanwhile may have been judged by two partitions, or by none; once is enough.
    """
    return [
        [match for _, match in sorted({match["fqdn"]: match for part in of_recipe for match in part}.items())]
        for of_recipe in zip(*by_partition, strict=True)
    ]
