"""Comparison of the output of a command with a page.

Times, durations, tokens and column widths differ from run to run. So do log positions and ids of tokens, but
later commands of a page may use these: the comparison captures them.
`…` in a page matches anything: alone on a line any lines, else any text within the line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

ANYTHING = "…"

# Values between these brackets are captured.
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
CAPTURED = re.compile("⟨(.*?)⟩")


def match_output(recorded: Sequence[str], printed: Sequence[str]) -> dict[str, str] | None:
    """Map positions and ids of the page to those of this run; return None if the output differs."""
    pattern = "".join(map(_pattern, recorded))
    found = re.fullmatch(pattern, "".join(f"{normalised(line)}\n" for line in printed))
    if found is None:
        return None
    shown = [value for line in recorded for value in CAPTURED.findall(normalised(line))]
    return dict(zip(shown, found.groups(), strict=True))


def normalised(line: str) -> str:
    """Replace values that differ from run to run with names."""
    for pattern, name in COMPILED:
        line = pattern.sub(name, line)
    return line.strip()


def _pattern(recorded: str) -> str:
    if recorded.strip() == ANYTHING:
        return r"(?:.*\n)*?"
    # A `…` may stand for an empty column, so the blanks beside it are optional.
    parts = (re.escape(part.strip()) for part in normalised(recorded).split(ANYTHING))
    line = " ?.*? ?".join(parts)
    return CAPTURED.sub(r"⟨(\\w+)⟩", line) + r"\n"


def refreshed(recorded: Sequence[str], printed: Sequence[str]) -> list[str]:
    """Replace recorded lines with matching lines of this run; lines with `…` stay."""
    rest = iter(printed)
    return [
        line if ANYTHING in line else next((now for now in rest if _same(line, now)), line)
        for line in recorded
    ]


def _same(line: str, other: str) -> bool:
    return CAPTURED.sub("", normalised(line)) == CAPTURED.sub("", normalised(other))


def with_values(command: str, values: Mapping[str, str]) -> str:
    """Replace positions and ids in a command of the page with those of this run."""
    positions = re.compile(r"((?:--as-of|--after|as_of=|after=|min_position=) ?)(\d+)\b")
    command = positions.sub(lambda found: found[1] + values.get(found[2], found[2]), command)
    return re.sub(r"\b[0-9a-f]{12}\b", lambda found: values.get(found[0], found[0]), command)
