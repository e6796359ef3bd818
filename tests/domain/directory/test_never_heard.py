"""`is_never_heard` of a lab controller depends only on its events up to the moment."""

from __future__ import annotations

import pytest

from domain.directory.events import (
    LabControllerDisabled,
    LabControllerHeard,
    LabControllerRegistered,
    LabControllerRemoved,
    LabControllerSilent,
)
from domain.directory.state import document_after
from domain.events import Event

NEW = LabControllerRegistered(enabled=True, silent=True)
OF_BEFORE = LabControllerRegistered(enabled=True)


@pytest.mark.parametrize(
    ("events", "is_silent", "is_never_heard"),
    [
        ([NEW], True, True),
        ([NEW, LabControllerDisabled()], True, True),
        ([NEW, LabControllerHeard()], False, False),
        ([NEW, LabControllerHeard(), LabControllerSilent()], True, False),
        ([OF_BEFORE], False, False),
        ([OF_BEFORE, LabControllerSilent()], True, False),
        ([NEW, LabControllerHeard(), LabControllerRemoved(), NEW], True, True),
    ],
)
def test_lab_controller__any_history__is_never_heard_until_its_first_contact(
    events: list[Event], is_silent: bool, is_never_heard: bool
) -> None:
    document: dict[str, object] = {}
    for event in events:
        document = dict(document_after(document, event))
    assert (document["silent"], document.get("never_heard", False)) == (is_silent, is_never_heard)
