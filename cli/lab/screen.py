"""The display of a simulation: a table on a terminal, lines in a pipe, or JSON."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from rich.console import Group
from rich.live import Live
from rich.text import Text

from cli.terminal.output import Output, console
from cli.terminal.tables import Column, Row, Rows
from cli.terminal.wording import plain

MAX_MESSAGES = 8
COMMANDS = frozenset({"provision", "stop", "release", "power", "clear_netboot"})
# Heading of a counter -> the rank of its column.
COUNTED = {
    "commands": 4,
    "messages": 5,
    "installing": 3,
    "completed": 1,
    "aborted": 1,
    "refused": 2,
    "broken": 2,
}

COLUMNS = (
    Column("lab controller", "lab_controller", rank=0),
    *(
        Column(heading, lambda row, heading=heading: row["counts"][heading], "number", rank)  # type: ignore[misc]
        for heading, rank in COUNTED.items()
    ),
    Column("now", "now", "text"),
)


def headings(action: Row) -> list[str]:
    what, counters = action["what"], []
    if what in COMMANDS:
        counters.append("commands")
    if what == "progress":
        counters.append("messages")
        if "task_id" not in action and "refused" not in action and "state" in action:
            counters.append(action["state"])
    if "refused" in action and what != "overtook":
        counters.append("refused")
    if action.get("condition") == "Broken":
        counters.append("broken")
    return counters


@dataclass
class Board:
    """The counters and the state of each lab controller, and the latest messages."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    now: dict[str, str] = field(default_factory=dict)
    latest: deque[str] = field(default_factory=lambda: deque(maxlen=MAX_MESSAGES))

    def add(self, action: dict[str, Any], line: str) -> None:
        fqdn = str(action["lab_controller"])
        self.counts.setdefault(fqdn, Counter()).update(headings(action))
        is_away = action["what"] in ("vanished", "waiting")
        self.now[fqdn] = f"{action['what']} {plain(action.get('reason'))}".strip() if is_away else "working"
        self.latest.append(line)

    def __rich__(self) -> Group:
        rows = [
            {"lab_controller": fqdn, "counts": counts, "now": self.now[fqdn]}
            for fqdn, counts in sorted(self.counts.copy().items())
        ]
        lines = (Text(line, style="dim", overflow="ellipsis", no_wrap=True) for line in list(self.latest))
        return Group(Rows(COLUMNS, rows), Text(), *lines, Text("Press Ctrl-C to stop.", style="dim"))


class SimulationScreen:
    """The display, as a context that is open during the simulation."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._board = Board()
        self._live: Live | None = None

    def __enter__(self) -> Self:
        shown = None if self._output.as_json else console()
        if shown is not None and shown.is_terminal:
            self._live = Live(self._board, console=shown, refresh_per_second=4)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, action: dict[str, Any]) -> None:
        if self._live is None:
            self._output.line(action, line(action))
        else:
            self._board.add(action, line(action))


def line(action: dict[str, Any]) -> str:
    rest = {name: value for name, value in action.items() if name not in ("lab_controller", "what")}
    return f"{plain(action['lab_controller'])}  {plain(action['what']):<10}  {plain(rest)}"
