"""Sets of systems as integers: bit n stands for system number n. One step for any number of systems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def numbers_in(bitmap: int) -> Iterator[int]:
    """The numbers whose bits are set, ascending; costs one step for each, and one for the whole."""
    digits = f"{bitmap:b}"
    end = len(digits) - 1
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
