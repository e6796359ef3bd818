"""A state machine as a table: from, to, when. Refusals, pictures and tests all read the same rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from domain.errors import Refused


@dataclass(frozen=True)
class Lifecycle:
    """The states of one kind of aggregate and the moves between them.

    `rows` are (from, to, when); `start` are the states it may begin in.
    """

    name: str
    states: tuple[str, ...]
    start: tuple[str, ...]
    rows: tuple[tuple[str, str, str], ...]

    @cached_property
    def moves(self) -> frozenset[tuple[str, str]]:
        return frozenset((before, after) for before, after, _ in self.rows)

    @cached_property
    def final(self) -> frozenset[str]:
        """States that nothing leaves."""
        return frozenset(self.states) - {before for before, _, _ in self.rows}

    def require(self, subject: str, before: str, after: str) -> None:
        """Refuse a move that no row allows."""
        if (before, after) not in self.moves:
            raise Refused(f"{subject} is {before}: it cannot become {after}")

    def mermaid(self) -> str:
        """The picture of the table, for the documentation."""
        lines = ["stateDiagram-v2"]
        lines += [f"    [*] --> {state}" for state in self.start]
        lines += [f"    {before} --> {after}: {when}" for before, after, when in self.rows]
        lines += [f"    {state} --> [*]" for state in self.states if state in self.final]
        return "\n".join(lines) + "\n"


def fan_in(sources: Iterable[str], targets: Iterable[str], when: str) -> tuple[tuple[str, str, str], ...]:
    """Rows from each source to each target, for moves that many states share."""
    aims = tuple(targets)
    return tuple((source, target, when) for source in sources for target in aims)
