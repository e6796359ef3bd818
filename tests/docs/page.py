"""Pages of the docs as the runner reads them: `console` blocks, and marks that say how to run them.

A mark is an HTML comment on the line above a block with one command:

    <!-- exits: 1 -->               the expected exit status; the default is 0
    <!-- types: secret -->          the answer to a prompt of the command; one mark for each prompt
    <!-- until: completed -->       send Ctrl-C once the output contains this
    <!-- again until: completed --> repeat the command until the output contains this
    <!-- again until: as shown -->  repeat the command until the output is the recorded one

Blocks of any length may have two marks: `<!-- terminal: alice -->` runs the block in a terminal of alice,
`<!-- not run: why -->` skips it. The lines below a command are its output. Without lines the output is not
checked; `?` asks for it to be recorded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
READMES = (
    "CONTRIBUTING.md",
    "SECURITY.md",
    "tests/README.md",
    "domain/scheduling/README.md",
    "store/migrations/README.md",
)
DOCS = ("README.md", *READMES, *sorted(str(page.relative_to(TOP)) for page in (TOP / "docs").rglob("*.md")))
ONE_COMMAND = ("exits", "types", "until", "again until")
OF_BLOCKS = ("terminal", "not run")
MARK = re.compile(r"<!-- ([a-z ]+): (.*?) -->")
PROMPT = "$ "
HERE = re.compile(r"<<'(\w+)'")


@dataclass(frozen=True)
class Command:
    """A command of a page: `line` is that of its prompt, counted from 1, `recorded` the output below it."""

    text: str
    line: int
    recorded: tuple[str, ...] = ()
    marks: tuple[tuple[str, str], ...] = ()

    @property
    def terminal(self) -> str:
        return self.mark("terminal") or ""

    @property
    def is_run(self) -> bool:
        return self.mark("not run") is None

    @property
    def status(self) -> int:
        return int(self.mark("exits") or (130 if self.mark("until") else 0))

    def mark(self, name: str) -> str | None:
        return next(iter(self.all(name)), None)

    def all(self, name: str) -> list[str]:
        return [value for mark, value in self.marks if mark == name]


@dataclass
class Block:
    """The lines between two fences; `line` is the number of the first."""

    line: int
    marks: list[tuple[str, str]]
    lines: list[str] = field(default_factory=list)

    def commands(self) -> list[Command]:
        found = list(self._parsed())
        names = [name for name, _ in self.marks]
        for name in names:
            if name not in (*ONE_COMMAND, *OF_BLOCKS):
                raise BadPage(f"line {self.line}: unknown mark {name!r}")
            if name in ONE_COMMAND and len(found) != 1:
                raise BadPage(f"line {self.line}: a block with the mark {name!r} must have one command")
        return [replace(command, marks=tuple(self.marks)) for command in found]

    def _parsed(self) -> Iterator[Command]:
        starts = [place for place, line in enumerate(self.lines) if line.startswith(PROMPT)]
        if self.lines and starts[:1] != [0]:
            raise BadPage(f"line {self.line}: a block must begin with a command")
        for start, end in pairwise([*starts, len(self.lines)]):
            yield _command(self.line + start, self.lines[start:end])


def _command(at: int, lines: list[str]) -> Command:
    """Split lines into the command and its output, without blank lines at the end."""
    typed = _typed(lines)
    recorded = lines[typed:]
    while recorded and not recorded[-1].strip():
        recorded.pop()
    return Command("\n".join(lines[:typed]).removeprefix(PROMPT), at, tuple(recorded))


def _typed(lines: list[str]) -> int:
    """Count the lines of the command: it continues after a backslash, and to the end of a here-document."""
    if here := HERE.search(lines[0]):
        return lines.index(here[1]) + 1
    return next((place for place, line in enumerate(lines, 1) if not line.endswith("\\")), len(lines))


class BadPage(Exception):
    """The page cannot be run."""


def commands(source: str) -> list[Command]:
    """Return all commands of a page, in order."""
    return [command for block in _blocks(source) for command in block.commands()]


def _blocks(source: str) -> Iterator[Block]:
    block: Block | None = None
    fence, marks = "", list[tuple[str, str]]()
    for number, line in enumerate(source.splitlines(), 1):
        if fence:
            if line.strip() == fence:
                if block:
                    yield block
                fence, block, marks = "", None, []
            elif block:
                block.lines.append(line)
        elif line.startswith("```"):
            fence = "```"
            block = Block(number + 1, marks) if line == "```console" else None
        elif found := MARK.findall(line):
            marks += found
        elif line:
            marks = []


def with_recorded(source: str, command: Command, text: str, printed: list[str]) -> str:
    """Return the page with new output of one command; the lines above it do not move."""
    lines = source.splitlines()
    begin = command.line - 1
    end = begin + len(command.text.splitlines()) + len(command.recorded)
    lines[begin:end] = [*f"{PROMPT}{text}".splitlines(), *printed]
    return "\n".join([*lines, ""])
