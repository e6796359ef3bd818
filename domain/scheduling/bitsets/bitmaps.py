"""Sets of systems as integers (bit n: system n), with one step for each set operation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from struct import unpack
from typing import Final

BYTE: Final = 8
BYTES: Final = 8
WORD: Final = BYTE * BYTES


def numbers_in(bitmap: int) -> Iterator[int]:
    """Yield the set bits, ascending; only the second costs one step over the whole bitmap."""
    if not bitmap:
        return
    first = lowest(bitmap)
    yield first
    rest = bitmap >> first + 1
    if not rest:
        return
    digits = f"{rest:b}"
    end = first + len(digits)
    index = digits.rfind("1")
    while index >= 0:
        yield end - index
        index = digits.rfind("1", 0, index)


def lowest(bitmap: int) -> int:
    """Return the smallest number of a bitmap that is not empty."""
    return (bitmap & -bitmap).bit_length() - 1


def nth(bitmap: int, index: int) -> int:
    """Return the n-th smallest number of a bitmap, counted from 0, by bisection."""
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
    result = 0
    for bitmap in bitmaps:
        result |= bitmap
    return result


def interleaved(rows: Sequence[int], size: int) -> list[int]:
    """Return eight planes of `size` bytes of eight rows: bit 8 * i + j of row k is bit 8 * i + k of plane j.

    Each step exchanges the off-diagonal parts of all blocks of 8 by 8 bits at once: first of 4 by 4, at last
    single bits.
    """
    planes = list(rows)
    for distance, mask in _exchange_masks(size):
        for first in range(BYTE):
            if not first & distance:
                moved = (planes[first] >> distance ^ planes[first + distance]) & mask
                planes[first + distance] ^= moved
                planes[first] ^= moved << distance
    return planes


@lru_cache(4)
def _exchange_masks(size: int) -> tuple[tuple[int, int], ...]:
    """Return the distances of an exchange in a byte, with the bits of `size` bytes that receive others."""
    return tuple(
        (distance, int.from_bytes(bytes([bits]) * size, "little"))
        for distance, bits in ((4, 0b00001111), (2, 0b00110011), (1, 0b01010101))
    )


def transposed(rows: Mapping[int, int]) -> dict[int, int]:
    """Return, for each number that occurs in any row, the bitmap of the rows in which it occurs."""
    columns: dict[int, int] = {}
    for first in sorted({row - row % WORD for row in rows}):
        for number, word in _words(rows, first):
            columns[number] = columns.get(number, 0) | word << first
    return columns


def _words(rows: Mapping[int, int], first: int) -> Iterator[tuple[int, int]]:
    """Yield the numbers that occur in 64 rows, each with the 64-bit bitmap of the rows in which it occurs.

    There is no step per bit: a row as binary digits has one byte per number. Eight rows are combined in one
    byte string, one bit each. Eight such strings, interleaved byte by byte, are the words.
    """
    width = max(rows.get(row, 0).bit_length() for row in range(first, first + WORD))
    ones = int.from_bytes(b"\1" * width)
    words = bytearray(width * BYTES)
    for offset in range(BYTES):
        eight_rows = 0
        for bit in range(8):
            bitmap = rows.get(first + 8 * offset + bit)
            if bitmap:
                eight_rows |= (int.from_bytes(f"{bitmap:0{width}b}".encode()) & ones) << bit
        words[offset::BYTES] = eight_rows.to_bytes(width)
    columns = unpack(f"<{width}Q", words)
    return ((number, word) for number, word in enumerate(reversed(columns)) if word)
