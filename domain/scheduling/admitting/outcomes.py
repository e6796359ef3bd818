"""The outcomes of all finished jobs and recipe sets, which later sets may depend on.

The scheduler drops a set with its last recipe, and folds no jobs. For each it keeps one byte: the worst final
state of the recipes that have ended so far, in the order of `domain.roll_up`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypedDict

from domain.recipe.lifecycle import FINISHED
from domain.roll_up import STATE_ORDER

# The final states by code, the worst one last. Code 0: no recipe has ended.
_STATES: Final = (None, *(state for state in reversed(STATE_ORDER) if state in FINISHED))
_CODES: Final = {state: code for code, state in enumerate(_STATES)}

CHUNK_SIZE: Final = 65_536


class PlainOutcomes(TypedDict):
    """The outcomes of the jobs or sets of `CHUNK_SIZE` ids; `codes` has two hexadecimal digits for each."""

    kind: str
    chunk: int
    codes: str


class Outcomes:
    """The worst final state of each job and set, by kind of subject and id. Mutable."""

    def __init__(self) -> None:
        self._chunks: dict[tuple[str, int], bytearray] = {}

    def worst(self, kind: str, number: int) -> str | None:
        """Return the worst final state that was added for a job or set, None without any."""
        chunk = self._chunks.get((kind, number // CHUNK_SIZE))
        return None if chunk is None else _STATES[chunk[number % CHUNK_SIZE]]

    def add(self, kind: str, number: int, state: str | None) -> None:
        """Add the final state of a recipe or set to its set or job."""
        key, place = (kind, number // CHUNK_SIZE), number % CHUNK_SIZE
        chunk = self._chunks.get(key)
        if chunk is None:
            chunk = self._chunks[key] = bytearray(CHUNK_SIZE)
        chunk[place] = max(chunk[place], _CODES[state])

    def plain(self) -> Iterator[PlainOutcomes]:
        """Iterate over the present outcomes as plain values."""
        copies = [(kind, chunk, bytes(codes)) for (kind, chunk), codes in sorted(self._chunks.items())]
        return ({"kind": kind, "chunk": chunk, "codes": codes.hex()} for kind, chunk, codes in copies)

    def restore(self, plain: PlainOutcomes) -> None:
        """Restore one of the results of `plain`."""
        self._chunks[plain["kind"], plain["chunk"]] = bytearray.fromhex(plain["codes"])


def worst_of(*states: str | None) -> str | None:
    """Return the worst of these final states, None without any."""
    return max(states, key=_CODES.__getitem__, default=None)
