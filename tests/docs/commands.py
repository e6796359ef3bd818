"""The commands in the docs, run: `python -m tests.docs.commands [--record] PAGE…`.

Each page has a demo of its own. `--record` writes what was printed into the pages.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from tests.docs.demo import TOP, Demo, demo
from tests.docs.likeness import ANYTHING, alike, likeness, refreshed, with_values
from tests.docs.page import Command, commands, with_recorded
from tests.docs.shell import Printed

PAGES = (
    "README.md",
    "docs/tutorial.md",
    *sorted(f"docs/how-to/{page.name}" for page in (TOP / "docs" / "how-to").glob("*.md")),
)
RECORD = "--record"
AS_SHOWN = "as shown"
NOT_YET = ("?",)
AGAIN_SECONDS = 60.0


@dataclass(frozen=True)
class Outcome:
    """`text` is the command as it was typed this time. `fault`: what is otherwise than the page says."""

    command: Command
    text: str
    printed: list[str]
    fault: str | None
    # What printed nothing like it, or failed, is no output to show.
    is_recordable: bool

    def __str__(self) -> str:
        return f"line {self.command.line}: $ {self.command.text}\n{self.fault}"


def outcomes(source: str, record: bool = False) -> list[Outcome]:
    """Run the commands of a page in their order, up to the first fault; to record, all of them."""
    found: list[Outcome] = []
    with demo() as made:
        run = Run(made)
        for command in commands(source):
            if command.is_run:
                found.append(run.outcome(command))
                if found[-1].fault and not record:
                    break
    return found


class Run:
    """A page on its way through a demo. Positions and ids that it has shown are those of this run."""

    def __init__(self, made: Demo) -> None:
        self._demo = made
        self._values: dict[str, str] = {}

    def outcome(self, command: Command) -> Outcome:
        text = with_values(command.text, self._values)
        printed = self._repeated(command, text)
        fault = None
        if printed.status != command.status:
            said = "\n".join(printed.lines)
            fault = f"exit status {printed.status}, not {command.status}; it printed:\n{said}"
        elif command.recorded:
            values = likeness(command.recorded, printed.lines)
            self._values.update(values or {})
            fault = _difference(command.recorded, printed.lines) if values is None else None
        return Outcome(command, text, printed.lines, fault, printed.status == command.status)

    def _repeated(self, command: Command, text: str) -> Printed:
        deadline = time.monotonic() + AGAIN_SECONDS
        while True:
            printed = self._demo.run(
                text, command.terminal, until=command.mark("until"), types=command.all("types")
            )
            if _is_awaited(command, printed.lines) or time.monotonic() > deadline:
                return printed
            time.sleep(0.3)


def _is_awaited(command: Command, printed: Sequence[str]) -> bool:
    awaited = command.mark("again until")
    if awaited == AS_SHOWN and command.recorded != NOT_YET:
        return likeness(command.recorded, printed) is not None
    return awaited in (None, AS_SHOWN) or awaited in "\n".join(printed)


def _difference(recorded: Sequence[str], printed: Sequence[str]) -> str:
    told = unified_diff(
        [*map(alike, recorded)], [*map(alike, printed)], "in the page", "printed", lineterm=""
    )
    return "\n".join([*told, "it printed:", *printed])


def recorded(source: str, found: Sequence[Outcome]) -> str:
    """The page with what was typed and printed this time, cut where it was cut."""
    for outcome in reversed(found):
        command = outcome.command
        if outcome.is_recordable:
            source = with_recorded(source, command, outcome.text, _recorded(outcome))
    return source


def _recorded(outcome: Outcome) -> list[str]:
    before, printed = outcome.command.recorded, outcome.printed
    if outcome.fault is None:
        return refreshed(before, printed)
    is_cut = before[-1].strip() == ANYTHING and len(before) <= len(printed)
    return [*printed[: len(before) - 1], before[-1]] if is_cut else printed


def main(arguments: list[str]) -> int:
    # One that is told to end takes its demo along.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    record = RECORD in arguments
    failed = 0
    for name in [argument for argument in arguments if argument != RECORD] or PAGES:
        page = Path(name)
        source = page.read_text("utf-8")
        found = outcomes(source, record)
        for outcome in found:
            if outcome.fault:
                failed += not (record and outcome.is_recordable)
                print(f"{name}, {outcome}\n")
        if record:
            page.write_text(recorded(source, found), "utf-8")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
