"""Sets of systems as integers: bit n stands for system number n. One step for any number of systems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from struct import unpack
from typing import Final

BYTES: Final = 8
WORD: Final = 8 * BYTES


def numbers_in(bitmap: int) -> Iterator[int]:
    """Yield the numbers whose bits are set, ascending: one step for each.

    The second costs one step for the whole, because the rest is written out in digits.
    """
    if not bitmap:
        return
    first = lowest(bitmap)
    yield first
    rest = bitmap >> first + 1
    if not rest:
        return
    digits = f"{rest:b}"
    end = first + len(digits)
    place = digits.rfind("1")
    while place >= 0:
        yield end - place
        place = digits.rfind("1", 0, place)


def lowest(bitmap: int) -> int:
    """The smallest number of a bitmap that is not empty."""
    return (bitmap & -bitmap).bit_length() - 1


def nth(bitmap: int, index: int) -> int:
    """The number of the set bit with this index (from 0, ascending), by halving."""
    low, width = 0, bitmap.bit_length()
    while width > 1:
        half = width // 2
        lower = bitmap & ((1 << half) - 1)
        below = lower.bit_count()
        if index < below:
            bitmap, width = lower, half
        else:
            bitmap, width, low, index = bitmap >> half, width - half, low + half, index - below
    return low


def union(bitmaps: Iterable[int]) -> int:
    together = 0
    for bitmap in bitmaps:
        together |= bitmap
    return together


def transposed(rows: Mapping[int, int]) -> dict[int, int]:
    """A bitmap for each number that is in any row: of the rows that it is in."""
    found: dict[int, int] = {}
    for first in sorted({row - row % WORD for row in rows}):
        for number, word in _word(rows, first):
            found[number] = found.get(number, 0) | word << first
    return found


def _word(rows: Mapping[int, int], first: int) -> Iterator[tuple[int, int]]:
    """The numbers of so many rows, each with those rows as one word, made without a step for each bit.

    A row written out in digits has a byte for each number. Eight rows fit into these bytes, a digit of each;
    eight such strings, byte by byte in turn, are the words.
    """
    width = max(rows.get(row, 0).bit_length() for row in range(first, first + WORD))
    ones = int.from_bytes(b"\1" * width)
    words = bytearray(width * BYTES)
    for place in range(BYTES):
        together = 0
        for digit in range(8):
            bitmap = rows.get(first + 8 * place + digit)
            if bitmap:
                together |= (int.from_bytes(f"{bitmap:0{width}b}".encode()) & ones) << digit
        words[place::BYTES] = together.to_bytes(width)
    columns = unpack(f"<{width}Q", words)
    return ((number, word) for number, word in enumerate(reversed(columns)) if word)
