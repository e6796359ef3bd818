"""Partitions in requests and answers of reads: clients use names, events and rows have numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api.rest.ports import ReadParts
from domain.directory.partition_states import state_of
from domain.directory.partitions import DEFAULT, KIND, LAB, Document
from domain.errors import Unknown, display_name
from domain.partition_numbers import DEFAULT_NUMBER, EVERYBODY, PartitionIdentity
from projections.read_sessions import NamedQuery
from projections.reader import At
from projections.sql import ANY_DOCUMENT, ANY_LAB

Row = dict[str, Any]


async def number_at(parts: ReadParts, at: At, name: str | None) -> int | None:
    """Return the number that the partition of this name had as of a read, None without a name.

    Raises Unknown. The name may be that of another partition at present.
    """
    if name is None or name == DEFAULT:
        return None if name is None else DEFAULT_NUMBER
    row = await parts.reader.row("document", {"kind": KIND, "name": name, "at": at.position})
    if row is None:
        raise Unknown(display_name(KIND, name))
    number: int = row["document"]["number"]
    return number


async def numbers_at(parts: ReadParts, at: At) -> list[int]:
    """Return the numbers of at least all partitions that existed as of a read."""
    if parts.feed.position >= at.position:
        return list(parts.feed.directory.partition_names)
    # Not from the directory, for which a read may have to wait long.
    rows = await parts.reader.rows(
        "documents", {"kind": KIND, "at": at.position, "after": "", "limit": None, **ANY_DOCUMENT}
    )
    return [DEFAULT_NUMBER, *(row["document"]["number"] for row in rows if row["name"] != DEFAULT)]


async def names_at(parts: ReadParts, at: At, numbers: Iterable[int]) -> Mapping[int, str]:
    """Return number -> name of at least these partitions, which existed as of a read.

    Wait for the directory only if it lacks one that was created a moment ago.
    """
    names = parts.feed.directory.partition_names
    if any(number not in names for number in numbers if number != EVERYBODY):
        await parts.feed.reach(at.position)
    return names


@dataclass(frozen=True)
class LabPartitions:
    """The partitions of labs as of a read. `moved` has the numbers of labs outside of `default`."""

    moved: Mapping[str, int]
    names: Mapping[int, str]

    def name_of(self, lab: str) -> str | None:
        """Return the name of the partition of a lab, None if the lab is in no partition."""
        return self.names.get(self.moved.get(lab, DEFAULT_NUMBER))

    def named(self, row: Row) -> Row:
        """Return a row of a system with the name of its partition."""
        return {**row, "partition": self.name_of(row["lab_controller"])}

    def labs_of(self, number: int | None) -> Mapping[str, Any]:
        """Return the parameters of a query that select the labs of a partition, or all labs for None."""
        if number is None or (number == DEFAULT_NUMBER and not self.moved):
            return ANY_LAB
        if number == DEFAULT_NUMBER:
            return {**ANY_LAB, "other_labs": list(self.moved)}
        return {**ANY_LAB, "labs": [lab for lab, of_lab in self.moved.items() if of_lab == number]}


async def lab_partitions(parts: ReadParts, at: At) -> LabPartitions:
    """Return the partitions of all labs as of a read. Without a second partition, no lab has ever moved."""
    feed = parts.feed
    if len(feed.directory.partition_names) == 1 and feed.position >= at.position:
        return LabPartitions({}, feed.directory.partition_names)
    return await from_moved_labs(parts, at, await parts.reader.rows(*moved_labs(at)))


def moved_labs(at: At) -> NamedQuery:
    """Return the query whose rows `from_moved_labs` takes."""
    return "moved_labs", {"at": at.position}


async def from_moved_labs(parts: ReadParts, at: At, rows: Iterable[Row]) -> LabPartitions:
    moved = {row["name"]: row["partition"] for row in rows}
    return LabPartitions(moved, await names_at(parts, at, moved.values()))


async def labs_of(parts: ReadParts, at: At, number: int | None) -> Mapping[str, Any]:
    """Return the parameters of a query that select the labs of a partition, or all labs for None."""
    return ANY_LAB if number is None else (await lab_partitions(parts, at)).labs_of(number)


def document_of(identity: PartitionIdentity, rows: Sequence[Row]) -> Document:
    """Return the document of a partition from the rows of its name; empty if another one has the name."""
    document: Document = rows[0]["document"] if rows else {}
    return document if document.get("number", DEFAULT_NUMBER) == identity.number else {}


async def listed_partitions(parts: ReadParts, at: At) -> list[Row]:
    """Return the partitions as of a read with their states and labs: `default`, then the others by name."""
    whole = {"at": at.position, "after": "", "limit": None, **ANY_DOCUMENT}
    rows, labs = await parts.reader.together(
        ("documents", {"kind": KIND, **whole}), ("documents", {"kind": LAB, **whole})
    )
    documents = {DEFAULT: {}, **{row["name"]: row["document"] for row in rows}}
    of_number: dict[int, list[str]] = defaultdict(list)
    for lab in labs:
        of_number[lab["document"].get("partition", DEFAULT_NUMBER)].append(lab["name"])
    return [
        {
            "name": name,
            "state": state_of(document),
            "lab_controllers": of_number[document.get("number", DEFAULT_NUMBER)],
        }
        for name, document in documents.items()
    ]
