"""The live parts of a rendered page: its title, and the HTML between marks of the template macro `live`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

_PART: Final = re.compile(r'<div data-part="([a-z-]+)">(.*?)</div><!--/\1-->', re.DOTALL)
_TITLE: Final = re.compile(r"<title>(.*?)</title>", re.DOTALL)
# The begin of a table, or a row that has no table of its own.
_ROW: Final = re.compile(r'<table|(<tr data-key="([^"]*)")[^>]*>(?:(?!<tr).)*?</tr>', re.DOTALL)
_AGE: Final = re.compile(r"<span data-age>[^<]*</span>")


def live_parts(text: str) -> dict[str, str]:
    """Return name -> HTML of the live parts of a page. The title of the page is the part `title`.

    Raises ValueError for two parts of one name: a browser would find the first one only.
    """
    parts = _PART.findall(text)
    found = dict(parts)
    if len(found) < len(parts):
        raise ValueError(f"live parts of one name: {sorted(name for name, _ in parts)}")
    title = _TITLE.search(text)
    return found if title is None else {"title": title[1], **found}


class RowKey(NamedTuple):
    """The number of a table in its part, from 1, and the key of a row in it."""

    table: int
    key: str


class LiveRow(NamedTuple):
    """A row with the positions at which its facts and the row directly before it last changed."""

    changed_at: int
    placed_at: int
    before: RowKey | None
    facts: str


class LivePart:
    """A part of a page, with the positions at which it and each of its rows last changed. Mutable.

    Ages do not count as changes: browsers keep them current themselves.
    """

    def __init__(self) -> None:
        self.position = -1
        self.html = ""
        self._facts = ""
        self._rows: dict[RowKey, LiveRow] = {}

    def update(self, position: int, html: str) -> None:
        """Replace the HTML of the part by that of a later position."""
        facts = _AGE.sub("", html)
        if facts == self._facts:
            return
        rows = list(_rows(facts))
        count = Counter(key for key, _, _ in rows)
        # A browser could not tell rows with the same key apart. They are always sent.
        self._rows = {
            key: self._row(key, before, row[0], position) for key, before, row in rows if count[key] == 1
        }
        self.position, self.html, self._facts = position, html, facts

    def _row(self, key: RowKey, before: RowKey | None, facts: str, position: int) -> LiveRow:
        old = self._rows.get(key)
        changed_at = old.changed_at if old is not None and old.facts == facts else position
        placed_at = old.placed_at if old is not None and old.before == before else position
        return LiveRow(changed_at, placed_at, before, facts)

    def html_after(self, position: int) -> str:
        """Return the HTML for a browser that has the part of an earlier position.

        Rows that have not changed since are left out: `data-same` at the first of them is their number.
        """
        html, end, run = list[str](), 0, 0
        for key, before, found in _rows(self.html):
            row = self._rows.get(key)
            if row is None or row.changed_at > position:
                run = 0
                continue
            if run and before is not None and row.placed_at <= position:
                run += 1
                html[-1] = f' data-same="{run}"></tr>'
            else:
                run = 1
                html += [self.html[end : found.start()], found[1], ' data-same="1"></tr>']
            end = found.end()
        return "".join([*html, self.html[end:]])


def _rows(html: str) -> Iterator[tuple[RowKey, RowKey | None, re.Match[str]]]:
    """Yield each row with its key and that of the row directly before it in the same table."""
    tables, before, end = 0, None, 0
    for found in _ROW.finditer(html):
        if found[2] is None:
            tables, before = tables + 1, None
            continue
        if html[end : found.start()].strip():
            before = None
        key = RowKey(tables, found[2])
        yield key, before, found
        before, end = key, found.end()
