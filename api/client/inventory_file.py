"""Export and import of systems as JSON or CSV, through the API.

A long file is imported in parts, and so is one with systems of several partitions.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from api.client.calls import Client
from api.client.problems import ServerProblem, Unreachable
from domain.errors import Fault

PATH = "/inventory"
JSON = "application/json"
CONTENT_TYPES = {"json": JSON, "csv": "text/csv"}
# Systems in a part, which is one commit. A concurrent change of any of its systems is a conflict of the part,
# so a larger part has more conflicts.
SYSTEMS_IN_PART = 200
UNPROCESSABLE = 422

WithProgress = Callable[[str, Sequence[Any]], Iterable[Any]]
"""A function of a title and items, which yields the items and shows the progress."""

PartitionOf = Callable[[str, str], str | None]
"""A function of the names of a system and of its lab (or ""), which returns the partition of the system."""

_LOCATION = re.compile(r"^(systems\[|row )([0-9]+)")
# The number of the first row of a table, after its header.
_FIRST_ROW = 2


@dataclass(frozen=True)
class ImportPart:
    """A part of a file: the `names` of its systems, and their `places` in the file, from 0."""

    content: bytes
    content_type: str
    names: tuple[str, ...] = ()
    places: tuple[int, ...] = ()


def export(
    client: Client, form: str, *, one_line: bool = False, **filters: str | int | None
) -> Iterator[str]:
    """Yield the text of the file; with `one_line`, JSON without line breaks."""
    pages = client.text_pages(PATH, CONTENT_TYPES[form], **filters)
    if form == "json":
        systems = [system for page in pages for system in json.loads(page)["systems"]]
        yield json.dumps({"systems": systems}, indent=None if one_line else 1)
        yield "\n"
        return
    for number, page in enumerate(pages):
        # Each page begins with a header row.
        yield page.partition("\r\n")[2] if number else page


def partitions_of_systems(client: Client) -> PartitionOf:
    """Return a function for the partitions of systems; without a second partition it asks nothing."""
    partitions = client.get("/partitions")["partitions"]
    of_lab = {lab: each["name"] for each in partitions for lab in each["lab_controllers"]}

    def partition_of(fqdn: str, lab: str) -> str | None:
        if len(partitions) == 1:
            # Also of a lab that was registered a moment ago, which the read may lack.
            return str(partitions[0]["name"])
        if lab:
            return of_lab.get(lab)
        try:
            name: str | None = client.get(client.path("systems", fqdn))["partition"]
        except ServerProblem:
            # The import reports what is wrong with the system.
            return None
        return name

    return partition_of


def parts_of(content: bytes, form: str, partition_of: PartitionOf = lambda *_: None) -> list[ImportPart]:
    """Return the parts of a file, each of one partition.

    A malformed file is one part, whose faults the server reports.
    """
    content_type = CONTENT_TYPES[form]
    try:
        header, systems = _rows(content) if form == "csv" else _documents(content)
    except ValueError:
        return [ImportPart(content, content_type)]
    write, field = (_table, _field_of_row) if form == "csv" else (_document, _field_of_document)
    names = [field(header, item, "fqdn") for item in systems]
    divided: dict[str | None, list[int]] = {}
    for place, item in enumerate(systems):
        partition = partition_of(names[place], field(header, item, "lab_controller"))
        divided.setdefault(partition, []).append(place)
    return [
        ImportPart(
            write(header, [systems[place] for place in part]),
            content_type,
            tuple(names[place] for place in part),
            tuple(part),
        )
        for places in list(divided.values()) or [[]]
        for first in range(0, len(places) or 1, SYSTEMS_IN_PART)
        for part in (places[first : first + SYSTEMS_IN_PART],)
    ]


def _rows(content: bytes) -> tuple[list[str], list[Any]]:
    """Return the header and the rows of a table. Raises ValueError."""
    try:
        rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True))
    except csv.Error as error:
        raise ValueError(str(error)) from None
    if not rows:
        raise ValueError("the table is empty")
    return rows[0], rows[1:]


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text).writerows([header, *rows])
    return text.getvalue().encode()


def _field_of_row(header: Sequence[str], row: Sequence[str], field: str) -> str:
    return dict(zip(header, row, strict=False)).get(field, "")


def _documents(content: bytes) -> tuple[list[str], list[Any]]:
    """Return an empty header and the systems of a document. Raises ValueError."""
    document = json.loads(content)
    systems = document["systems"] if isinstance(document, dict) and [*document] == ["systems"] else None
    if not isinstance(systems, list):
        raise ValueError("must be an object with a list of systems")
    return [], systems


def _document(_: Sequence[str], systems: Sequence[Any]) -> bytes:
    return json.dumps({"systems": systems}).encode()


def _field_of_document(_: Sequence[str], system: Any, field: str) -> str:
    return str(system.get(field, "")) if isinstance(system, dict) else ""


def preview_import(
    client: Client, parts: Sequence[ImportPart], with_progress: WithProgress
) -> dict[str, Any]:
    """Return the changes that an import would make. Raises ServerProblem with the faults of all parts."""
    reports: list[dict[str, Any]] = []
    faults, title = [*_duplicates(parts)], "Invalid input"
    for part in with_progress("checking", parts):
        try:
            reports.append(client.post_text(PATH, part.content, part.content_type, dry_run="true"))
        except ServerProblem as problem:
            if problem.status != UNPROCESSABLE or not problem.faults:
                raise
            faults += [_located_in_file(fault, part) for fault in problem.faults]
            title = problem.title
    if faults:
        raise ServerProblem(
            UNPROCESSABLE, title, f"{len(faults)} errors" if len(faults) > 1 else "1 error", tuple(faults)
        )
    return _combined(reports)


def import_all(client: Client, parts: Sequence[ImportPart], with_progress: WithProgress) -> dict[str, Any]:
    """Import the parts in order. If there are several, check all before the first one is stored."""
    if len(parts) > 1:
        preview_import(client, parts, with_progress)
    done: list[dict[str, Any]] = []
    for part in with_progress("importing", parts):
        try:
            done.append(client.post_text(PATH, part.content, part.content_type))
        except ServerProblem as problem:
            faults = tuple(_located_in_file(fault, part) for fault in problem.faults)
            count = _stored(parts, part)
            stored = f"{count} systems are stored, the others are not" if count else ""
            detail = "; ".join(text for text in (problem.detail, stored) if text)
            raise ServerProblem(problem.status, problem.title, detail, faults) from None
        except Unreachable as error:
            raise error.with_progress(_unknown_outcome(part, _stored(parts, part))) from None
    return _combined(done)


def _stored(parts: Sequence[ImportPart], failed: ImportPart) -> int:
    """Return the number of systems in the parts before one that failed."""
    return sum(len(part.names) for part in parts[: parts.index(failed)])


def _unknown_outcome(part: ImportPart, stored: int) -> str:
    """Return the text about a part that may or may not be stored, because its response was lost."""
    before = f"{stored} systems are stored, " if stored else ""
    text = f"{before}those from {part.names[0]} on may be" if part.names else "the file may be stored"
    return f"{text}; it is safe to import the file again"


def _duplicates(parts: Sequence[ImportPart]) -> Iterator[Fault]:
    """Yield a fault for each system that occurs in two parts. The server finds duplicates within one part."""
    first: dict[str, ImportPart] = {}
    for part in parts:
        for number, name in zip(part.places, part.names, strict=True):
            if name and first.setdefault(name.casefold(), part) is not part:
                where = (
                    f"systems[{number}].fqdn"
                    if part.content_type == JSON
                    else f"row {number + _FIRST_ROW}, column fqdn"
                )
                yield Fault(where, "occurs twice")


def _located_in_file(fault: Fault, part: ImportPart) -> Fault:
    def number(match: re.Match[str]) -> str:
        first = _FIRST_ROW if match[1].startswith("row") else 0
        place = int(match[2]) - first
        # A malformed file has no places.
        return match[0] if place not in range(len(part.places)) else f"{match[1]}{part.places[place] + first}"

    return replace(fault, where=_LOCATION.sub(number, fault.where))


def _combined(reports: Sequence[dict[str, Any]]) -> dict[str, Any]:
    counts = {name: sum(report[name] for report in reports) for name in ("added", "changed", "kept")}
    systems = [system for report in reports for system in report["systems"]]
    return {**reports[-1], **counts, "systems": systems}
