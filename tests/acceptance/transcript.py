"""Transcript of a part of the log, which people can read and write: every commit, cause and event of it.

    admin:
        job.submitted           job/1           owner=admin
    scheduler, on recipe-set.submitted recipe-set/1:
        recipe.scheduled        recipe/1        system=m1 lab_controller=lab.east

A heading begins a commit and names its actor and cause; `and on` begins another decision of the same commit.
Ids count from 1 within the part. The alignment of the columns does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

Event = Mapping[str, Any]

# The shown fields of events with many fields; other events show all.
SHOWN_FIELDS: dict[str, tuple[str, ...]] = {
    "job.submitted": ("owner", "group"),
    "recipe-set.submitted": ("job_id", "priority", "recipe_ids"),
    "recipe.new": ("recipe_set_id", "host_recipe_id", "distro_tree_id"),
    "distro-tree.registered": ("name", "urls"),
    "distro-tree.changed": ("name", "urls"),
    "system.reservation-begun": ("user", "distro_tree_id"),
}
# The kind of ids in a field.
IDS = {
    "job_id": "job",
    "recipe_set_id": "recipe-set",
    "recipe_id": "recipe",
    "recipe_ids": "recipe",
    "host_recipe_id": "recipe",
    "task_id": "task",
}
MAX_REASON_LENGTH = 46
COUNTED = ("job", "recipe-set", "recipe")


def transcript(part: Iterable[Event], *endings: str) -> list[str]:
    """Return the lines of the transcript, with these endings of machine names removed."""
    text = "\n".join(_Transcript(list(part)).lines())
    for ending in endings:
        text = text.replace(ending, "")
    return lines(text)


def lines(text: str) -> list[str]:
    """Return the lines that are not blank, without alignment."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


# Values of fields that are not shown.
EMPTY = (None, [], {}, "")


class Numbers:
    """Ids of each kind, numbered from 1 in order of appearance."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, int], int] = {}

    def __getitem__(self, which: tuple[str, int]) -> int:
        kind = which[0]
        return self._found.setdefault(which, 1 + sum(other == kind for other, _ in self._found))

    def see(self, event: Event) -> None:
        """Number the subject of the event, and the tasks of a new recipe."""
        kind, _, name = event["subject"].partition("/")
        if kind in COUNTED:
            self[kind, int(name)]
        for task in event["data"].get("tasks", ()) if event["topic"] == "recipe.new" else ():
            self["task", task["task_id"]]


class _Transcript:
    def __init__(self, part: list[Event]) -> None:
        self._at = {event["position"]: event for event in part}
        self._part = part
        self._numbers = Numbers()
        for event in self._part:
            self._numbers.see(event)

    def lines(self) -> Iterator[str]:
        for _, commit in groupby(self._part, key=lambda event: event["commit_end"]):
            decisions = groupby(commit, key=lambda event: event.get("number"))
            for place, (_, events) in enumerate(decisions):
                together = list(events)
                yield self._heading(together[0], first=place == 0)
                yield from map(self._line, together)

    def _heading(self, event: Event, *, first: bool) -> str:
        kind, _, name = event["cause"].partition("/")
        why = "" if kind == "request" else f"on {self._cause(kind, name)}"
        who = event["actor"] if first else "and"
        return f"{who}{', ' if first and why else ' ' if why else ''}{why}:"

    def _cause(self, kind: str, name: str) -> str:
        if kind == "event":
            raised = self._at[int(name)]
            return f"{raised['topic']} {self._subject(raised)}"
        what, _, which = name.partition("/")
        return f"{kind}/{what}/{self._numbers['recipe', int(which)] if what == 'watchdog' else which}"

    def _subject(self, event: Event) -> str:
        kind, _, name = event["subject"].partition("/")
        if kind == "command":
            follows = self._at[int(name)]
            return f"of {follows['topic']} {self._subject(follows)}"
        return f"{kind}/{self._numbers[kind, int(name)]}" if kind in COUNTED else event["subject"]

    def _line(self, event: Event) -> str:
        data, fields = event["data"], SHOWN_FIELDS.get(event["topic"], tuple(event["data"]))
        values = [
            f"{name}={self._value(name, data[name])}"
            for name in fields
            if data[name] not in (None, [], {}, "")
        ]
        return " ".join([event["topic"], self._subject(event), *values])

    def _value(self, name: str, value: Any) -> str:
        if name in IDS:
            ids = value if isinstance(value, list) else [value]
            return ",".join(str(self._numbers[IDS[name], number]) for number in ids)
        if isinstance(value, dict):
            return ",".join(sorted(value))
        return repr(shorten(value)) if isinstance(value, str) and " " in value else str(value)


def shorten(text: str) -> str:
    return text if len(text) <= MAX_REASON_LENGTH else text[: MAX_REASON_LENGTH - 1] + "…"
