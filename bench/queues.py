"""A queue tree for benchmarks: leaves in four levels, every queue `fair` and with a maximum."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, Final

LEVELS: Final = 4

Document = dict[str, Any]


def queue_section(leaves: int, systems: int) -> Document:
    """Return the section `queues` with this number of leaves below `root`, or a few more.

    A maximum is twice the even share of the systems, so that shares decide before maxima do.
    """
    return {"order": "fair", "queues": _level(_width(leaves), LEVELS - 1, systems)}


def paths(leaves: int) -> Iterator[str]:
    """Yield the paths of the leaves."""
    width = _width(leaves)
    for numbers in product(range(width), repeat=LEVELS - 1):
        yield ".".join(("root", *map(_name, numbers)))


def _width(leaves: int) -> int:
    """Return the smallest number of children of each parent that makes as many leaves; 0 for none."""
    return next(width for width in range(leaves + 1) if width ** (LEVELS - 1) >= leaves)


def _level(width: int, levels: int, systems: int) -> list[Document]:
    maximum = -(-2 * systems // width)
    below = _level(width, levels - 1, maximum // 2) if levels > 1 else []
    plain = {"order": "fair", "max": maximum}
    return [
        {"name": _name(number), **plain, **({"queues": below} if below else {})} for number in range(width)
    ]


def _name(number: int) -> str:
    return f"q{number}"
