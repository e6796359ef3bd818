"""Sets of small numbers as ints: bit n stands for number n."""

from __future__ import annotations

from collections.abc import Iterator


def numbers_in(bitmap: int) -> Iterator[int]:
    """Yield the numbers of a set in ascending order."""
    digits = f"{bitmap:b}"[::-1]
    number = digits.find("1")
    while number >= 0:
        yield number
        number = digits.find("1", number + 1)
