"""Tables that fit into the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from cli.terminal.states import style_of
from cli.terminal.wording import plain

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.table import Table
    from rich.text import Text

Row = Mapping[str, Any]

# Blanks between two columns.
GAP = 2
# Minimum width of a column of wrapped text.
NARROWEST_TEXT = 16


@dataclass(frozen=True)
class Need:
    """The width that a column needs. The highest `rank` is dropped first, rank 0 never."""

    width: int
    wraps: bool
    rank: int

    @property
    def min_width(self) -> int:
        return min(self.width, NARROWEST_TEXT) if self.wraps else self.width


def fitting_columns(needs: Sequence[Need], available: int) -> list[int] | None:
    """Return the indexes of the columns that fit; None if the columns of rank 0 alone do not fit.

    Among columns of equal rank, the last one is dropped first.
    """
    places = list(range(len(needs)))
    while _width([needs[place].min_width for place in places]) > available:
        last = max(places, key=lambda place: (needs[place].rank, place), default=None)
        if last is None or needs[last].rank == 0:
            return None
        places.remove(last)
    return places


def _width(columns: Sequence[int]) -> int:
    return sum(columns) + GAP * max(0, len(columns) - 1)


# Width of tables in a pipe or with --wide: no column is omitted, and no text is cut.
UNBOUNDED = 10_000
# Maximum length of a text on a terminal without --wide.
MAX_TEXT_LENGTH = 160
# Rank of an empty column, which is dropped first, and not named among the omitted columns.
EMPTY_RANK = 100


@dataclass(frozen=True)
class Column:
    """A column of a table: its heading, and a field or a function of the row.

    Only text is wrapped; names are never cut. States are coloured. In a narrow terminal, columns of the
    highest `rank` are dropped first, those of rank 0 never.
    """

    heading: str
    source: str | Callable[[Row], Any]
    kind: Literal["name", "number", "state", "text"] = "name"
    rank: int = 1

    def cell(self, row: Row) -> str:
        return plain(row.get(self.source) if isinstance(self.source, str) else self.source(row))


class Rows:
    """A table for rich that adapts to the width of the console.

    `widest` has the width of each column by its heading. A table that is redrawn passes the same dictionary
    again, so that its columns only grow, and do not move at every redraw.
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
        """Return the headings of the columns that do not fit."""
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
        from rich.text import Text

        bounded = options.max_width < UNBOUNDED
        places = self._places(options.max_width)
        if self._title:
            # The title of a rich table would be wrapped at the width of the table.
            yield Text(self._title, no_wrap=True, overflow="ignore")
        if places is None:
            yield from self._fields_on_lines()
        else:
            yield self._table(places, bounded)

    def _places(self, width: int) -> list[int] | None:
        from rich.cells import cell_len

        texts = ([column.heading for column in self._columns], *self._cells)
        for column, of_column in zip(self._columns, zip(*texts, strict=True), strict=True):
            now = max(cell_len(text[:MAX_TEXT_LENGTH]) for text in of_column)
            self._widest[column.heading] = max(now, self._widest.get(column.heading, 0))
        needs = (
            Need(
                self._widest[column.heading],
                column.kind == "text",
                EMPTY_RANK if empty and column.rank else column.rank,
            )
            for column, empty in zip(self._columns, self._is_empty(), strict=True)
        )
        return fitting_columns(list(needs), width)

    def _is_empty(self) -> list[bool]:
        return [not any(texts) for texts in zip(*self._cells, strict=True)] or [True] * len(self._columns)

    def _table(self, places: Sequence[int], bounded: bool) -> Table:
        from rich import box
        from rich.table import Table

        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, GAP - 1, 0, 0))
        for column in (self._columns[place] for place in places):
            table.add_column(
                column.heading,
                justify="right" if column.kind == "number" else "left",
                no_wrap=not (bounded and column.kind == "text"),
                overflow="fold",
                min_width=None if column.kind == "text" else self._widest[column.heading],
            )
        for cells in self._cells:
            table.add_row(*(_cell_text(self._columns[place], cells[place], bounded) for place in places))
        return table

    def _fields_on_lines(self) -> Iterator[Text]:
        """Yield a line for each field, for a terminal that is narrower than the names."""
        from rich.text import Text

        for number, cells in enumerate(self._cells):
            if number:
                yield Text()
            for column, cell in zip(self._columns, cells, strict=True):
                if cell:
                    yield Text(f"{column.heading}: ", no_wrap=True, overflow="ignore").append(
                        _cell_text(column, cell, True)
                    )


def _cell_text(column: Column, cell: str, bounded: bool) -> Text:
    from rich.text import Text

    cut = f"{cell[: MAX_TEXT_LENGTH - 1]}…" if bounded and len(cell) > MAX_TEXT_LENGTH else cell
    return Text(cut, style=style_of(cell) if column.kind == "state" else "")
