"""Formatting of events: one line each, or two lines on a narrow terminal."""

from __future__ import annotations

from typing import Any

import click

from cli.terminal.output import Output, console
from cli.terminal.states import styled
from cli.terminal.tables import UNBOUNDED, Row
from cli.terminal.wording import clock, plain

# The fields of event data that a line shows, in this order.
SHOWN_FIELDS = (
    "system", "recipe_id", "lab_controller", "condition", "priority", "task_id", "result", "reason", "user",
    "until", "seconds", "group", "whiteboard",
)  # fmt: skip
# Minimum width for one line, which leaves room for some data.
ONE_LINE_COLUMNS = 120


class EventPrinter:
    """Printer of events: a line or two for each, in columns of fixed width."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._width, self._coloured = UNBOUNDED, False
        if not output.as_json:
            screen = console(wide=output.wide)
            self._width, self._coloured = screen.width, screen.is_terminal and not screen.no_color

    def show(self, event: Row) -> None:
        text = line(event, self._width)
        self._output.line(event, text if self._coloured else click.unstyle(text))


def line(event: Row, width: int = UNBOUNDED) -> str:
    """Return the text of an event, cut at `width`; two lines if `width` is less than `ONE_LINE_COLUMNS`."""
    head = f"{event['position']:>8}  {clock(event.get('at'))}  {_topic(event)}  {plain(event['subject']):<34}"
    details = f"{plain(event.get('actor')):<12}  {plain(_shown_data(event))}".rstrip()
    if width < ONE_LINE_COLUMNS:
        return f"{head.rstrip()}\n{'':>10}{_cut(details, width - 10)}".rstrip()
    head_width = len(click.unstyle(head)) + 2
    return f"{head}  {_cut(details, max(0, width - head_width))}".rstrip()


def _shown_data(event: Row) -> dict[str, Any]:
    data = event.get("data") or {}
    return {name: data[name] for name in SHOWN_FIELDS if data.get(name) not in (None, "")}


def _topic(event: Row) -> str:
    topic = plain(event["topic"])
    return styled(f"{topic:<24}", topic.rpartition(".")[2])


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: max(0, width - 1)]}…"
