"""A terminal screen: its final content after a program has redrawn it."""

from __future__ import annotations

import re

# A control sequence, or one other character.
PIECE = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|([^\x1b])")
UNFINISHED = re.compile(r"\x1b(?:\[[0-9;?]*)?$")
TAB = 8


class Screen:
    """A screen of unlimited size: nothing scrolls away."""

    def __init__(self) -> None:
        self._lines: list[list[str]] = [[]]
        self._row = self._column = 0
        self._rest = ""

    def lines(self) -> list[str]:
        """Return the lines without invisible blanks."""
        found = ["".join(line).rstrip() for line in self._lines]
        while found and not found[-1]:
            found.pop()
        return found

    def last(self) -> str:
        """Return the line with the cursor, including blanks."""
        return "".join(self._lines[self._row])

    def feed(self, text: str) -> None:
        text = self._rest + text
        unfinished = UNFINISHED.search(text)
        self._rest = unfinished[0] if unfinished else ""
        for number, kind, letter in PIECE.findall(text.removesuffix(self._rest)):
            if kind:
                self._control(kind, number)
            else:
                self._put(letter)

    def _control(self, kind: str, number: str) -> None:
        count = int(number) if number.isdigit() else 0
        if kind == "A":
            self._row = max(0, self._row - max(1, count))
        elif kind == "K":
            line = self._lines[self._row]
            del line[0 if count == 2 else self._column :]

    def _put(self, letter: str) -> None:
        if letter == "\n":
            self._row, self._column = self._row + 1, 0
            if self._row == len(self._lines):
                self._lines.append([])
        elif letter == "\r":
            self._column = 0
        elif letter == "\b":
            self._column = max(0, self._column - 1)
        elif letter == "\t":
            self._column += TAB - self._column % TAB
        elif letter.isprintable():
            line = self._lines[self._row]
            line += " " * (self._column + 1 - len(line))
            line[self._column] = letter
            self._column += 1
