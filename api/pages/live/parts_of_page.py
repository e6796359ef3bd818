"""The live parts of a rendered page: the HTML between the marks that the template macro `live` writes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

_PART: Final = re.compile(r'<div data-part="([a-z-]+)">(.*?)</div><!--/\1-->', re.DOTALL)
# The begin of a table, or a row that has no table of its own.
_ROW: Final = re.compile(r'<table|(<tr data-key="([^"]*)")[^>]*>(?:(?!<tr).)*?</tr>', re.DOTALL)
_AGE: Final = re.compile(r"<span data-age>[^<]*</span>")


def live_parts(text: str) -> dict[str, str]:
    """Return name -> HTML of the live parts of a page."""
    return dict(_PART.findall(text))


class LivePart:
    """A part of a page, with the positions at which it and each of its rows last changed. Mutable.

    Ages do not count as changes: browsers keep them current themselves.
    """

    def __init__(self) -> None:
        self.position = -1
        self.html = ""
        self._facts = ""
        self._rows: dict[_RowKey, tuple[int, str]] = {}

    def update(self, position: int, html: str) -> None:
        """Replace the HTML of the part by that of a later position."""
        facts = _AGE.sub("", html)
        if facts == self._facts:
            return
        rows = [(key, row[0]) for key, row in _rows(facts)]
        count = Counter(key for key, _ in rows)
        # A browser could not tell rows with the same key apart. They are always sent.
        self._rows = {key: self._row(key, row, position) for key, row in rows if count[key] == 1}
        self.position, self.html, self._facts = position, html, facts

    def _row(self, key: _RowKey, facts: str, position: int) -> tuple[int, str]:
        before = self._rows.get(key)
        return before if before is not None and before[1] == facts else (position, facts)

    def html_after(self, position: int) -> str:
        """Return the HTML for a browser that has the part of an earlier position.

        Rows that have not changed since are marked `data-same`, and have no content.
        """
        html, end = [], 0
        for key, row in _rows(self.html):
            if self._rows.get(key, (self.position, ""))[0] <= position:
                html += [self.html[end : row.start()], f"{row[1]} data-same></tr>"]
                end = row.end()
        return "".join([*html, self.html[end:]])


_RowKey = tuple[int, str]
"""The number of the table, and the key of the row in it."""


def _rows(html: str) -> Iterator[tuple[_RowKey, re.Match[str]]]:
    tables = 0
    for found in _ROW.finditer(html):
        if found[2] is None:
            tables += 1
        else:
            yield (tables, found[2]), found
