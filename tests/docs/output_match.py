"""Comparison of the output of a command with a page.

Times, durations, estimates, tokens and column widths differ from run to run. So do log positions and ids of
tokens, but later commands of a page may use these: the comparison captures them.
`…` in a page matches anything: alone on a line any lines, else any text within the line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

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
    (r"(?<!\S)\d{1,2}\.\d\d(?!\S)", "WEIGHT"),
    (r"\b\d+[dhms](?: \d+[dhms])?(?![\w-])", "SPAN"),
    # Estimates compare the waits of earlier recipes.
    (r"^(if it were submitted now:) .*", r"\1 ESTIMATE"),
    # The first column of `events`; those of `recipe` and `system usage`; in sentences, JSON and headers.
    (r"^ ?(\d+) TIME", r"POSITION⟨\1⟩ TIME"),
    (r"(TIME(?: SPAN)?) (\d+)(?= |$)", r"\1 POSITION⟨\2⟩"),
    (r"^( ?TIME SPAN .*) (\d+)$", r"\1 POSITION⟨\2⟩"),
    (r"\b(note) (\d+)(?= added)", r"\1 POSITION⟨\2⟩"),
    (r"^(id: )(\d+)$", r"\1POSITION⟨\2⟩"),
    (r"((?:position|basis|commit_end)(?:\"?: ?| ))(\d+)", r"\1POSITION⟨\2⟩"),
    (r"(\"(?:after|upto)\": ?)(\d+)", r"\1POSITION⟨\2⟩"),
    (r"\b(command|event)/(\d+)", r"\1/POSITION⟨\2⟩"),
)
COMPILED = tuple((re.compile(pattern, re.IGNORECASE), name) for pattern, name in VARYING)
CAPTURED = re.compile("⟨(.*?)⟩")

SPAN = r"\d+[dhms](?: \d+[dhms])?"
WORD = re.compile(rf"{SPAN}(?!\S)|\S+")
TIME = r"(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)"
# Lines of `events`, of a recipe's states, of `system usage`; the first line of `--as-of`, and of `overview`.
MOMENTS = (
    rf"^ *(?P<position>\d+)  {TIME}  [a-z-]+\.[a-z-]+",
    rf"{TIME} +(?:{SPAN} +)?(?P<position>\d+)(?: |$)",
    rf"^{TIME} +{SPAN} .* (?P<position>\d+)$",
    rf"as of position (?P<position>\d+), {TIME}",
    rf"{TIME} at position (?P<position>\d+)",
)


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
    """Replace recorded lines with matching lines of this run; text that was cut with `…` stays cut."""
    lines, rest = list[str](), [*printed]
    for line in recorded:
        matching = (at for at, now in enumerate(rest) if match_output([line], [now]) is not None)
        at = next(matching, None) if line.strip() != ANYTHING else None
        lines.append(line if at is None else _cut(line, rest[at]))
        rest = rest if at is None else rest[at + 1 :]
    return lines


def _cut(recorded: str, printed: str) -> str:
    """Return the printed line, with the text of the recorded line from its first `…` to its last."""
    words, now = [*WORD.finditer(recorded)], [*WORD.finditer(printed)]
    cut = [number for number, word in enumerate(words) if ANYTHING in word[0]]
    if not cut:
        return printed
    before, after = cut[0], words[cut[-1] + 1 :]
    begin = now[before - 1].end() if before else 0
    kept = recorded[words[before - 1].end() if before else 0 : words[cut[-1]].end()]
    if not after:
        return printed[:begin] + kept
    end = now[-len(after)].start()
    blanks = recorded[words[cut[-1]].end() : after[0].start()]
    is_column = len(blanks) > 1
    return printed[:begin] + (f"{kept}  ".ljust(end - begin) if is_column else kept + blanks) + printed[end:]


def time_faults(lines: Sequence[str]) -> list[tuple[str, str]]:
    """Return neighbours in the order of log positions whose times fall, as lines of output show them.

    A second less is no fault: `events` prints the time of the request, other commands that of the commit.
    """
    found = filter(None, (re.search(pattern, line) for line in lines for pattern in MOMENTS))
    in_order = sorted(
        (int(one["position"]), datetime.fromisoformat(one["time"]), one.string) for one in found
    )
    return [
        (line, next_line)
        for (_, time, line), (_, next_time, next_line) in pairwise(in_order)
        if time - next_time > timedelta(seconds=1)
    ]


def with_values(command: str, values: Mapping[str, str]) -> str:
    """Replace positions and ids in a command of the page with those of this run."""
    positions = re.compile(r"((?:--as-of|--after|as_of=|after=|min_position=) ?)(\d+)\b")
    command = positions.sub(lambda found: found[1] + values.get(found[2], found[2]), command)
    return re.sub(r"\b[0-9a-f]{12}\b", lambda found: values.get(found[0], found[0]), command)
