"""Systems into a file and from one, as JSON or CSV, through the API: as many as there are, in parts."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from api.client.calls import Client
from api.client.problems import Problem, Unreachable
from domain.errors import Fault

PATH = "/inventory"
JSON = "application/json"
CONTENT_TYPES = {"json": JSON, "csv": "text/csv"}
# A part is one commit. What moves meanwhile makes it begin again: a longer one has more that may move.
AT_ONCE = 200
WRONG = 422

Along = Callable[[str, Sequence[Any]], Iterable[Any]]
"""Goes along the items of a list and says how far it is: of what, and of which items."""

_PLACE = re.compile(r"^(systems\[|row )([0-9]+)")


@dataclass(frozen=True)
class Part:
    """`names` are those of its systems, `before` is how many of the file stand before them."""

    content: bytes
    content_type: str
    names: tuple[str, ...] = ()
    before: int = 0


def exported(
    client: Client, form: str, *, one_line: bool = False, **asked: str | int | None
) -> Iterator[str]:
    """The text of the file; `one_line` is for JSON that machines read."""
    pages = client.text_pages(PATH, CONTENT_TYPES[form], **asked)
    if form == "json":
        systems = [one for page in pages for one in json.loads(page)["systems"]]
        yield json.dumps({"systems": systems}, indent=None if one_line else 1)
        yield "\n"
        return
    for number, page in enumerate(pages):
        # Each begins with a line of headings.
        yield page.partition("\r\n")[2] if number else page


def parts_of(content: bytes, form: str) -> list[Part]:
    """What cannot be taken apart is one part: what is wrong with it the server says."""
    content_type = CONTENT_TYPES[form]
    try:
        header, systems = _rows(content) if form == "csv" else _documents(content)
    except ValueError:
        return [Part(content, content_type)]
    write, name = (_table, _name_in_row) if form == "csv" else (_document, _name_in_document)
    return [
        Part(write(header, some), content_type, tuple(name(header, one) for one in some), first)
        for first in range(0, len(systems) or 1, AT_ONCE)
        for some in (systems[first : first + AT_ONCE],)
    ]


def _rows(content: bytes) -> tuple[list[str], list[Any]]:
    """Raises ValueError."""
    try:
        rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True))
    except csv.Error as error:
        raise ValueError(str(error)) from None
    if not rows:
        raise ValueError("there is no first row")
    return rows[0], rows[1:]


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> bytes:
    made = io.StringIO(newline="")
    csv.writer(made).writerows([header, *rows])
    return made.getvalue().encode()


def _name_in_row(header: Sequence[str], row: Sequence[str]) -> str:
    return dict(zip(header, row, strict=False)).get("fqdn", "")


def _documents(content: bytes) -> tuple[list[str], list[Any]]:
    """Raises ValueError."""
    document = json.loads(content)
    if (
        not isinstance(document, dict)
        or [*document] != ["systems"]
        or not isinstance(document["systems"], list)
    ):
        raise ValueError("there are no systems in it, or something else")
    return [], document["systems"]


def _document(_: Sequence[str], systems: Sequence[Any]) -> bytes:
    return json.dumps({"systems": systems}).encode()


def _name_in_document(_: Sequence[str], system: Any) -> str:
    return str(system.get("fqdn", "")) if isinstance(system, dict) else ""


def look_at(client: Client, parts: Sequence[Part], along: Along) -> dict[str, Any]:
    """What an import would change. Raises Problem with the faults of all parts."""
    found: list[dict[str, Any]] = []
    faults, title = [*_told_twice(parts)], "Invalid input"
    for part in along("checking", parts):
        try:
            found.append(client.post_text(PATH, part.content, part.content_type, dry_run="true"))
        except Problem as problem:
            if problem.status != WRONG or not problem.faults:
                raise
            faults += [_placed(fault, part) for fault in problem.faults]
            title = problem.title
    if faults:
        raise Problem(WRONG, title, f"{len(faults)} errors" if len(faults) > 1 else "1 error", tuple(faults))
    return _together(found)


def import_all(client: Client, parts: Sequence[Part], along: Along) -> dict[str, Any]:
    """One part after the other; where there are several, none before all were looked at."""
    if len(parts) > 1:
        look_at(client, parts, along)
    done: list[dict[str, Any]] = []
    for part in along("importing", parts):
        try:
            done.append(client.post_text(PATH, part.content, part.content_type))
        except Problem as problem:
            faults = tuple(_placed(fault, part) for fault in problem.faults)
            stored = f"the first {part.before} systems are stored, the others are not" if part.before else ""
            detail = "; ".join(said for said in (problem.detail, stored) if said)
            raise Problem(problem.status, problem.title, detail, faults) from None
        except Unreachable as lost:
            raise lost.after(_left_open(part)) from None
    return _together(done)


def _left_open(part: Part) -> str:
    """Its answer was lost, if it was asked at all."""
    before = f"the first {part.before} systems are stored, " if part.before else ""
    said = f"{before}those from {part.names[0]} on perhaps" if part.names else "perhaps it is stored"
    return f"{said}: what is stored already changes nothing when it is imported again"


def _told_twice(parts: Sequence[Part]) -> Iterator[Fault]:
    """Within one part the server finds them."""
    first: dict[str, Part] = {}
    for part in parts:
        for number, name in enumerate(part.names, start=part.before):
            if name and first.setdefault(name.casefold(), part) is not part:
                place = (
                    f"systems[{number}].fqdn"
                    if part.content_type == JSON
                    else f"row {number + 2}, column fqdn"
                )
                yield Fault(place, "occurs twice")


def _placed(fault: Fault, part: Part) -> Fault:
    """Where it is in the file."""

    def number(found: re.Match[str]) -> str:
        return f"{found[1]}{int(found[2]) + part.before}"

    return replace(fault, where=_PLACE.sub(number, fault.where))


def _together(answers: Sequence[dict[str, Any]]) -> dict[str, Any]:
    counts = {name: sum(answer[name] for answer in answers) for name in ("added", "changed", "kept")}
    systems = [system for answer in answers for system in answer["systems"]]
    return {**answers[-1], **counts, "systems": systems}
