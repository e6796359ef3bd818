"""A NUL in an event: refused by the mapper, while the six characters of its escape are text."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from domain.directory.events import LabControllerItemsRejected
from domain.events import Change, Stamp
from store.mapper import EventMapper

AT = datetime(2026, 1, 1, tzinfo=UTC)


def change(instance: str) -> Change:
    event = LabControllerItemsRejected(instance, [], has_more=False)
    return Change("lab-controller/lab.example.com", event, Stamp(at=AT, actor="admin", cause=None))


@pytest.mark.parametrize("text", ["\0", "a\0b", "\\\0", "\\\\\0", "\\u0000\0"])
def test_text__with_a_nul__is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"lab-controller\.items-rejected of .* holds a NUL"):
        EventMapper().state(change(text))


@pytest.mark.parametrize("text", ["\\u0000", "\\\\u0000", "u0000", "\1"])
def test_text__with_the_escape_of_a_nul__is_text(text: str) -> None:
    state = EventMapper().state(change(text))
    event, _ = EventMapper().read(LabControllerItemsRejected.TOPIC, state)
    assert isinstance(event, LabControllerItemsRejected)
    assert event.instance == text
