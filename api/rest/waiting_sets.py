"""Waiting recipe sets by partition, with what decides about which of them an explaining process is asked."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from api.rest import concerned_partitions
from api.rest.partitions import document_of
from api.rest.ports import ExplainParts
from domain.directory.partitions import KIND, Document
from domain.partition_numbers import PartitionIdentity
from projections.read_sessions import NamedQuery, Row
from projections.reader import At

SetIdsByPartition = Mapping[PartitionIdentity, Sequence[int]]
"""The ids of sets by partition."""


class WaitingSets(NamedTuple):
    """Waiting sets of a partition, and its document.

    `declaring`: those that declare resource locks. `conditional`: those with dependencies or reasons.
    """

    identity: PartitionIdentity
    set_ids: Sequence[int]
    document: Document
    declaring: frozenset[int]
    conditional: frozenset[int]


async def waiting_sets(parts: ExplainParts, at: At, set_ids: Collection[int]) -> list[WaitingSets]:
    """Return these sets by partition, as of a read."""
    divided = await concerned_partitions.of_subjects(parts, "recipe-set", set_ids)
    return waiting_sets_from_rows(divided, await parts.reader.together(*waiting_set_queries(divided, at)))


def waiting_set_queries(divided: SetIdsByPartition, at: At) -> list[NamedQuery]:
    """Return the queries whose rows `waiting_sets_from_rows` takes."""
    set_ids = [number for members in divided.values() for number in members]
    documents = ({"kind": KIND, "name": identity.name, "at": at.position} for identity in divided)
    return [
        ("declaring_sets", {"recipe_set_ids": set_ids, "at": at.position}),
        ("conditional_sets", {"recipe_set_ids": set_ids}),
        *(("document", document) for document in documents),
    ]


def waiting_sets_from_rows(divided: SetIdsByPartition, rows: Sequence[list[Row]]) -> list[WaitingSets]:
    """Return the sets by partition from the rows of their queries."""
    declaring, conditional = (frozenset(row["recipe_set_id"] for row in found) for found in rows[:2])
    documents = zip(divided, rows[2:], strict=True)
    by_identity = {identity: document_of(identity, found) for identity, found in documents}
    return [
        WaitingSets(identity, set_ids, by_identity[identity], declaring, conditional)
        for identity, set_ids in divided.items()
    ]
