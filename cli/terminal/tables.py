"""Tables for people: names whole, states in their colours, and no more columns than there is room for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from cli.terminal.fitting import GAP, Need, kept
from cli.terminal.states import style_of
from cli.terminal.wording import plain

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.table import Table
    from rich.text import Text

Row = Mapping[str, Any]

# A pipe has no width: nothing is left out or cut off there.
UNBOUNDED = 10_000
# Elsewhere a text goes no further: who wants to read it to its end asks for --wide.
LONGEST_TEXT = 160
# A column that says nothing of any row goes before all others, and nobody misses it.
EMPTY_RANK = 100


@dataclass(frozen=True)
class Column:
    """A heading, and what stands below it: a field of the row, or what is made of the row.

    Text may go on in the next line. A name may not: one that was cut is no name. A state has its colour.
    Where room is short columns of the highest `rank` are left out first, those of rank 0 never.
    """

    heading: str
    source: str | Callable[[Row], Any]
    kind: Literal["name", "number", "state", "text"] = "name"
    rank: int = 1

    def cell(self, row: Row) -> str:
        return plain(row.get(self.source) if isinstance(self.source, str) else self.source(row))


class Rows:
    """A table that fits itself to where it is shown.

    One that is shown again and again is given the `widest` of before, by heading: its columns grow and never
    shrink, so that what stands in them does not jump, nor does a column come and go.
    """

    def __init__(
        self,
        columns: Iterable[Column],
        rows: Iterable[Row],
        *,
        title: str | None = None,
        widest: dict[str, int] | None = None,
    ) -> None:
        self._columns = tuple(columns)
        self._cells = [[column.cell(row) for column in self._columns] for row in rows]
        self._title = title
        self._widest = {} if widest is None else widest

    def left_out(self, width: int) -> list[str]:
        """The headings there is no room for."""
        places = self._places(width)
        if places is None:
            return []
        columns = zip(self._columns, self._is_empty(), strict=True)
        return [
            column.heading
            for place, (column, empty) in enumerate(columns)
            if place not in places and not empty
        ]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        bounded = options.max_width < UNBOUNDED
        places = self._places(options.max_width)
        if places is None:
            yield from self._one_below_the_other()
        else:
            yield self._table(places, bounded)

    def _places(self, width: int) -> list[int] | None:
        from rich.cells import cell_len

        texts = ([column.heading for column in self._columns], *self._cells)
        for column, of_column in zip(self._columns, zip(*texts, strict=True), strict=True):
            now = max(cell_len(text[:LONGEST_TEXT]) for text in of_column)
            self._widest[column.heading] = max(now, self._widest.get(column.heading, 0))
        needs = (
            Need(
                self._widest[column.heading],
                column.kind == "text",
                EMPTY_RANK if empty and column.rank else column.rank,
            )
            for column, empty in zip(self._columns, self._is_empty(), strict=True)
        )
        return kept(list(needs), width)

    def _is_empty(self) -> list[bool]:
        return [not any(texts) for texts in zip(*self._cells, strict=True)] or [True] * len(self._columns)

    def _table(self, places: Sequence[int], bounded: bool) -> Table:
        from rich import box
        from rich.table import Table

        made = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, GAP - 1, 0, 0))
        made.title, made.title_justify = self._title, "left"
        for column in (self._columns[place] for place in places):
            made.add_column(
                column.heading,
                justify="right" if column.kind == "number" else "left",
                no_wrap=not (bounded and column.kind == "text"),
                overflow="fold",
                min_width=None if column.kind == "text" else self._widest[column.heading],
            )
        for cells in self._cells:
            made.add_row(*(_shown(self._columns[place], cells[place], bounded) for place in places))
        return made

    def _one_below_the_other(self) -> Iterator[Text]:
        """For a terminal that is narrower than the names in it."""
        from rich.text import Text

        if self._title:
            yield Text(self._title)
        for number, cells in enumerate(self._cells):
            if number:
                yield Text()
            for column, cell in zip(self._columns, cells, strict=True):
                if cell:
                    yield Text(f"{column.heading}: ", no_wrap=True, overflow="ignore").append(
                        _shown(column, cell, True)
                    )


def _shown(column: Column, cell: str, bounded: bool) -> Text:
    from rich.text import Text

    cut = f"{cell[: LONGEST_TEXT - 1]}…" if bounded and len(cell) > LONGEST_TEXT else cell
    return Text(cut, style=style_of(cell) if column.kind == "state" else "")
