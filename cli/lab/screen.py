"""The display of a simulation: a table on a terminal, lines in a pipe, or JSON."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from cli.lab.board import Board
from cli.terminal.output import Output, console
from cli.terminal.wording import plain

if TYPE_CHECKING:
    from rich.live import Live


class SimulationScreen:
    """The display, as a context that is open during the simulation."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._board = Board()
        self._live: Live | None = None

    def __enter__(self) -> Self:
        shown = None if self._output.as_json else console()
        if shown is not None and shown.is_terminal:
            from rich.live import Live

            self._live = Live(self._board, console=shown, refresh_per_second=4)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def hear(self, doing: dict[str, Any]) -> None:
        if self._live is None:
            self._output.line(doing, line(doing))
        else:
            self._board.hear(doing, line(doing))


def line(doing: dict[str, Any]) -> str:
    rest = {name: value for name, value in doing.items() if name not in ("lab_controller", "what")}
    return f"{plain(doing['lab_controller'])}  {plain(doing['what']):<10}  {plain(rest)}"
