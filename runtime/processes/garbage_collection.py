"""Tuning of Python's cyclic garbage collector for processes with large, long-lived heaps.

The collector stops the process while it traverses all objects: a quarter of a second for a directory of
thousands of systems, half a second for a scheduler with ten thousand. New objects trigger it again and again.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# A page of events consists of thousands of objects that are freed together, so collections are rarer.
YOUNG_OBJECTS = 10_000
# During a fold nearly all objects are kept, or are freed many thousands at a time. A collection takes 7 ms.
FOLD_YOUNG_OBJECTS = 25_000
# Thresholds of the middle and the oldest generation, as numbers of collections of the next younger one.
OLDER_THRESHOLDS = (20, 100)


def freeze_present_objects() -> None:
    """Exclude all present objects from collections, and collect later objects less often.

    For a process that serves requests, which may leave cycles of objects.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, *OLDER_THRESHOLDS)


@contextmanager
def gc_paused() -> Iterator[None]:
    """Disable collections while many lasting objects are created: traversing them would take as long."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def freeze_survivors(young_objects: int = YOUNG_OBJECTS) -> None:
    """Exclude the survivors of each collection from later ones, and collect young objects less often.

    For a process that keeps folded objects: they make no cycles, and reference counting frees them. So the
    older generations, whose collections would traverse a million objects and more, stay empty.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(young_objects, *gc.get_threshold()[1:])
    gc.callbacks.append(_freeze)


def collect_frozen() -> None:
    """Collect frozen objects, too. Call it after a partition is dropped, since partitions have cycles."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def _freeze(phase: str, _: dict[str, Any]) -> None:
    if phase == "stop":
        gc.freeze()
