"""Whether a command printed what a page says it prints.

Times, spans of time, tokens and the width of columns differ from run to run. So do log positions and ids of
tokens, but what a page shows of them it may name in a later command: they are told, for whoever runs that.
`…` in a page stands for anything: alone on its line for any lines, else for anything within the line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

ANYTHING = "…"

# Values between these brackets are told.
VARYING = (
    (r"\s+", " "),
    (r"─+", "─"),
    (r"\bll_(?:[\w-]{20,}|…)", "TOKEN"),
    (r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "UUID"),
    (r"\b[0-9a-f]{32}\b", "UUID"),
    (r"\b([0-9a-f]{12})\b", r"ID⟨\1⟩"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|\+00:00)?", "TIME"),
    (r"\b\d+\.\d%", "SHARE"),
    (r"\b\d+[dhms](?: \d+[dhms])?(?![\w-])", "SPAN"),
    # The first column of `events`; those of `recipe` and `system usage`; in sentences, JSON and headers.
    (r"^ ?(\d+) TIME", r"POSITION⟨\1⟩ TIME"),
    (r"(TIME(?: SPAN)?) (\d+)(?= |$)", r"\1 POSITION⟨\2⟩"),
    (r"^( ?TIME SPAN .*) (\d+)$", r"\1 POSITION⟨\2⟩"),
    (r"^(id: )(\d+)$", r"\1POSITION⟨\2⟩"),
    (r"((?:position|basis|commit_end)(?:\"?: ?| ))(\d+)", r"\1POSITION⟨\2⟩"),
    (r"(\"(?:after|upto)\": ?)(\d+)", r"\1POSITION⟨\2⟩"),
    (r"\b(command|event)/(\d+)", r"\1/POSITION⟨\2⟩"),
)
COMPILED = tuple((re.compile(pattern, re.IGNORECASE), name) for pattern, name in VARYING)
TOLD = re.compile("⟨(.*?)⟩")


def likeness(recorded: Sequence[str], printed: Sequence[str]) -> dict[str, str] | None:
    """None where they differ. Else the positions and ids: what the page shows, and what it was this time."""
    found = re.fullmatch("".join(map(_pattern, recorded)), "".join(f"{alike(line)}\n" for line in printed))
    if found is None:
        return None
    shown = [value for line in recorded for value in TOLD.findall(alike(line))]
    return dict(zip(shown, found.groups(), strict=True))


def alike(line: str) -> str:
    """The line without what differs from run to run."""
    for pattern, name in COMPILED:
        line = pattern.sub(name, line)
    return line.strip()


def _pattern(recorded: str) -> str:
    if recorded.strip() == ANYTHING:
        return r"(?:.*\n)*?"
    # Blanks beside a column that may be empty are none of its own.
    parts = (re.escape(part.strip()) for part in alike(recorded).split(ANYTHING))
    line = " ?.*? ?".join(parts)
    return TOLD.sub(r"⟨(\\w+)⟩", line) + r"\n"


def refreshed(recorded: Sequence[str], printed: Sequence[str]) -> list[str]:
    """What was recorded, with what is printed now, where that is like it. What is not shown stays so."""
    rest = iter(printed)
    return [
        line if ANYTHING in line else next((now for now in rest if _same(line, now)), line)
        for line in recorded
    ]


def _same(line: str, other: str) -> bool:
    return TOLD.sub("", alike(line)) == TOLD.sub("", alike(other))


def with_values(command: str, values: Mapping[str, str]) -> str:
    """A command of the page with the positions and ids of this run in it."""
    positions = re.compile(r"((?:--as-of|--after|as_of=|after=|min_position=) ?)(\d+)\b")
    command = positions.sub(lambda found: found[1] + values.get(found[2], found[2]), command)
    return re.sub(r"\b[0-9a-f]{12}\b", lambda found: values.get(found[0], found[0]), command)
