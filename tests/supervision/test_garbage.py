"""The garbage collector skips objects that survived a collection, and collects later cycles."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from runtime.processes.garbage_collection import freeze_survivors


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    callbacks, threshold = list(gc.callbacks), gc.get_threshold()
    yield
    gc.set_threshold(*threshold)
    gc.callbacks[:] = callbacks
    gc.unfreeze()


class Thing:
    """An object that may refer to itself."""

    itself: Thing | None = None


@pytest.mark.parametrize("generation", range(3))
def test_collection__objects_outlived_it__later_ones_pass_them_over(generation: int) -> None:
    freeze_survivors()
    lasting = Thing()
    gc.collect(generation)
    assert not any(each is lasting for each in gc.get_objects()), "it is looked at again"


def test_cycle__made_and_dropped_between_two_collections__is_collected() -> None:
    freeze_survivors()
    left = Thing()
    left.itself = left
    seen = weakref.ref(left)
    del left
    gc.collect()
    assert seen() is None


def test_object__spared_and_referred_to_no_more__goes_at_once() -> None:
    freeze_survivors()
    lasting = Thing()
    gc.collect()
    seen = weakref.ref(lasting)
    del lasting
    assert seen() is None
