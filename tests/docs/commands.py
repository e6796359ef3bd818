"""Runner of the commands in the docs: `python -m tests.docs.commands [--record] [--together] PAGE…`.

Each story has a new demo, and a page is run with its whole story; with `--together` all pages share one demo.
`--record` writes the output into the pages.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff
from itertools import chain
from pathlib import Path

from tests.docs.demo import Demo, demo
from tests.docs.output_match import ANYTHING, match_output, normalised, refreshed, with_values
from tests.docs.page import DOCS, TOP, Command, commands, with_recorded
from tests.docs.shell import Printed

# Their commands are for root on a dedicated machine.
NOT_RUN = ("docs/operation.md", "docs/sign-in.md")
PAGES = tuple(
    page for page in DOCS if page not in NOT_RUN and "\n```console\n" in (TOP / page).read_text("utf-8")
)
# Each story is read on one demo: the tutorial continues where the README ends, and each day where the day
# before ends.
DAYS = tuple(f"docs/how-to/a-day-of-an-{person}.md" for person in ("engineer", "operator", "auditor"))
STORIES = (
    ("README.md", "docs/tutorial.md"),
    DAYS,
    *((page,) for page in PAGES if "/how-to/" in page and page not in DAYS),
)
# Reference pages, whose commands work after any others.
OTHERS = tuple(page for page in PAGES if page not in chain(*STORIES))
# Pages that show machines in states that last a moment on fast ones.
SLOW = tuple(page for page in chain(*STORIES) if page not in DAYS)
RECORD, TOGETHER = "--record", "--together"
AS_SHOWN = "as shown"
NOT_YET = ("?",)
AGAIN_SECONDS = 180.0


@dataclass(frozen=True)
class Outcome:
    """A command that was run: `text` is the command as typed, `fault` the difference to the page."""

    command: Command
    text: str
    printed: list[str]
    fault: str | None = None
    # Output is not recorded if the command failed, or if awaited output did not appear.
    is_recordable: bool = True

    def __str__(self) -> str:
        return f"line {self.command.line}: $ {self.command.text}\n{self.fault}"


def outcomes(made: Demo, source: str, record: bool = False) -> list[Outcome]:
    """Run the commands of a page in order, up to the first fault; with `record`, run all of them."""
    run, found = Run(made), list[Outcome]()
    for command in commands(source):
        if command.is_run:
            found.append(run.outcome(command))
            if found[-1].fault and not record:
                break
    return found


class Run:
    """The run of a page on a demo, with the positions and ids that its commands have printed so far."""

    def __init__(self, made: Demo) -> None:
        self._demo = made
        self._values: dict[str, str] = {}

    def outcome(self, command: Command) -> Outcome:
        text = with_values(command.text, self._values)
        printed = self._repeated(command, text)
        output = "\n".join(printed.lines)
        if printed.status != command.status:
            fault = f"exit status {printed.status}, not {command.status}; it printed:\n{output}"
            return Outcome(command, text, printed.lines, fault, is_recordable=False)
        if command.recorded == NOT_YET:
            return Outcome(command, text, printed.lines, f"not recorded yet; it printed:\n{output}")
        values = match_output(command.recorded, printed.lines) if command.recorded else {}
        if values is None:
            fault = _difference(command.recorded, printed.lines)
            return Outcome(command, text, printed.lines, fault, _is_awaited(command, printed.lines))
        self._values.update(values)
        return Outcome(command, text, printed.lines)

    def _repeated(self, command: Command, text: str) -> Printed:
        deadline = time.monotonic() + AGAIN_SECONDS
        while True:
            printed = self._demo.run(
                text, command.terminal, until=command.mark("until"), types=command.all("types")
            )
            if _is_awaited(command, printed.lines) or time.monotonic() > deadline:
                return printed
            # Each attempt starts a program, and awaited output takes seconds.
            time.sleep(1.0)


def _is_awaited(command: Command, printed: Sequence[str]) -> bool:
    awaited = command.mark("again until")
    if awaited == AS_SHOWN and command.recorded != NOT_YET:
        return match_output(command.recorded, printed) is not None
    return awaited in (None, AS_SHOWN) or awaited in "\n".join(printed)


def _difference(recorded: Sequence[str], printed: Sequence[str]) -> str:
    lines = unified_diff(
        [*map(normalised, recorded)], [*map(normalised, printed)], "in the page", "printed", lineterm=""
    )
    return "\n".join([*lines, "it printed:", *printed])


def recorded(source: str, found: Sequence[Outcome]) -> str:
    """Return the page with the commands and output of this run; output that was cut with `…` stays cut."""
    for outcome in reversed(found):
        command = outcome.command
        if outcome.is_recordable:
            source = with_recorded(source, command, outcome.text, _recorded(outcome))
    return source


def _recorded(outcome: Outcome) -> list[str]:
    before, printed = outcome.command.recorded, outcome.printed
    if outcome.fault is None:
        return refreshed(before, printed)
    if before == NOT_YET:
        return printed
    is_cut = before[-1].strip() == ANYTHING and len(before) <= len(printed)
    return [*printed[: len(before) - 1], before[-1]] if is_cut else printed


def main(arguments: list[str]) -> int:
    # SIGTERM ends the demo too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    pages = [argument for argument in arguments if argument not in (RECORD, TOGETHER)] or [*PAGES]
    is_read = True
    for together in [pages] if TOGETHER in arguments else stories(pages):
        with demo(is_fast=not {*together} & {*SLOW}) as made:
            for page in together:
                is_read &= _read(made, Path(page), RECORD in arguments)
    return 0 if is_read else 1


def stories(pages: Sequence[str]) -> list[Sequence[str]]:
    """Return the stories of the pages, each once; a page of no story is one by itself."""
    found = (next((story for story in STORIES if page in story), (page,)) for page in pages)
    return [*dict.fromkeys(found)]


def _read(made: Demo, page: Path, record: bool) -> bool:
    """Run a page, and record it if asked to; return whether the page is correct now."""
    source = page.read_text("utf-8")
    found = outcomes(made, source, record)
    faults = [outcome for outcome in found if outcome.fault]
    for outcome in faults:
        print(f"{page}, {outcome}\n")
    if record:
        page.write_text(recorded(source, found), "utf-8")
    return not [outcome for outcome in faults if not (record and outcome.is_recordable)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
