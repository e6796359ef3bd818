"""What Python's collector of circles looks at in a process that knows much and for long.

It stops everything while it looks at all there is: a directory of thousands of systems takes it a quarter of
a second, the scheduler of ten thousand half a second; and what passes through makes it look again and again.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

OLDEST_GENERATION = 2
# A page in the making is thousands of objects that go with it: the young are looked at less often.
YOUNG_OBJECTS = 10_000
# Where nearly all that is made stays, or goes a hundred thousand at a time: looked at still less often.
YOUNG_OF_A_FOLD = 100_000
# At what survived once, and at everything: after so many of those before.
SELDOM = (20, 100)


def spare_what_is_there() -> None:
    """What is there now stays until the end, and is not looked at any more; the rest is, less often.

    For a process whose requests last: of those, circles may be left.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, *SELDOM)


@contextmanager
def nothing_collected() -> Iterator[None]:
    """While much is made that lasts. Looking at all of it again and again would take as long as making it."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def spare_what_lasts(young_objects: int = YOUNG_OBJECTS) -> None:
    """From now on, what has outlived a full collection is looked at by no later one, and the young only after
    so many.

    For a process that keeps what it folds: that makes no circles, and goes by itself when nobody refers to it
    any more.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(young_objects, *gc.get_threshold()[1:])
    gc.callbacks.append(_spare)


def collect_what_lasted() -> None:
    """What was to last is not wanted any more. As a whole it is a circle: nothing but this finds it."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def _spare(phase: str, info: dict[str, Any]) -> None:
    if phase == "stop" and info["generation"] == OLDEST_GENERATION:
        gc.freeze()
