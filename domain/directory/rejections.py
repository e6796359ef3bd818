"""The refused items of the present registration of a lab controller, in its document of the directory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from domain.characters import escaped
from domain.directory.events import LabControllerItemsRejected

FIELD: Final = "rejected"
MAX_LISTED: Final = 100
MAX_NAME_CHARACTERS: Final = 255
MAX_REASON_CHARACTERS: Final = 1_000


class Rejection(NamedTuple):
    """A refused item: its system, None if the item names none, and the reason."""

    system: str | None
    reason: str


def rejection(system: str | None, reason: str) -> Rejection:
    """Return a rejection; both texts may repeat anything that the lab controller sent."""
    name = None if system is None else escaped(system, MAX_NAME_CHARACTERS)
    return Rejection(name, escaped(reason, MAX_REASON_CHARACTERS))


def rejected_after(
    document: Mapping[str, Any], instance: str, rejected: Sequence[Rejection], *, is_last: bool
) -> LabControllerItemsRejected | None:
    """Return the event with further rejections, None if the document of the lab controller has them all.

    Rejections of another instance are dropped as soon as this instance has some, or has sent its last part.
    The event has the whole list, of at most `MAX_LISTED` items; `has_more` is whether there are others.
    """
    before = document.get(FIELD) or {"instance": None, "items": [], "has_more": False}
    is_same = before["instance"] == instance
    if not is_same and not rejected and not (is_last and before["items"]):
        return None
    listed = [Rejection(each["system"], each["reason"]) for each in before["items"]] if is_same else []
    merged = list(dict.fromkeys([*listed, *rejected]))
    has_more = len(merged) > MAX_LISTED or (is_same and before["has_more"])
    items = [each._asdict() for each in merged[:MAX_LISTED]]
    if is_same and (items, has_more) == ([dict(each) for each in before["items"]], before["has_more"]):
        return None
    return LabControllerItemsRejected(instance, items, has_more)
