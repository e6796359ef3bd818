"""The refused items of the present registration of a lab controller."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from domain.directory.documents import document_after
from domain.directory.events import LabControllerItemsRejected
from domain.directory.rejections import MAX_LISTED, Rejection, rejected_after

A, B = Rejection("a", "it is elsewhere"), Rejection(None, "fqdn: is missing")
EMPTY: Mapping[str, Any] = {"enabled": True}


def after(document: Mapping[str, Any], instance: str, *rejected: Rejection, last: bool = False) -> Any:
    """Return the event, and the document after it."""
    found = rejected_after(document, instance, rejected, is_last=last)
    return found, document if found is None else document_after(document, found)


def test_rejections__of_one_instance__add_up_once() -> None:
    _, document = after(EMPTY, "one", A)
    found, document = after(document, "one", B)
    assert found == LabControllerItemsRejected("one", [A._asdict(), B._asdict()], False)
    assert after(document, "one", A, B)[0] is None
    assert document["enabled"] is True


def test_rejections__none__no_event() -> None:
    assert after(EMPTY, "one", last=True)[0] is None
    assert after(after(EMPTY, "one", A)[1], "two")[0] is None


def test_rejections__of_another_instance__replace_the_earlier_ones() -> None:
    _, document = after(EMPTY, "one", A)
    assert after(document, "two", B)[0] == LabControllerItemsRejected("two", [B._asdict()], False)
    found, document = after(document, "two", last=True)
    assert found == LabControllerItemsRejected("two", [], False)
    assert after(document, "two", last=True)[0] is None


def test_rejections__very_many__are_bounded_and_the_same_again_makes_no_event() -> None:
    many = [Rejection(str(number), "why") for number in range(MAX_LISTED + 5)]
    found, document = after(EMPTY, "one", *many)
    assert (len(found.items), found.has_more) == (MAX_LISTED, True)
    assert after(document, "one", *many)[0] is None
