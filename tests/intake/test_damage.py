"""Valid jobs with one change: the published schema and the parser agree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial

import pytest
from lxml import etree

from api.intake import read_job
from domain.errors import FaultyInput
from tests.intake.elements import ELEMENTS
from tests.intake.jobs import NAMES, SAMPLES
from tests.intake.rich import RICH
from tests.intake.schema import is_valid

SOUND = {
    **{path.name: path.read_bytes() for path in sorted(SAMPLES.glob("*.xml"))},
    **{name: body for name, (body, *_) in ELEMENTS.items()},
    "rich": RICH,
}

# Faults that a schema cannot express: unknown names, and values that exclude each other.
VALUES = (
    "twice",
    "there is no",
    "needs a product",
    "takes no product",
    "retention_tag",
    "must be an email address",
    "must not be empty",
    "has no effect",
)


def damaged(body: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the change and the changed job, for every change of every element below the root."""
    tree = etree.fromstring(body)
    for number, element in list(enumerate(tree.iter()))[1:]:
        for what, change in CHANGES.items():
            yield f"{what} {element.tag}", _changed(tree, number, change)
        for name in element.attrib:
            yield f"rename {name} of {element.tag}", _changed(tree, number, partial(rename, name=str(name)))


def _changed(tree: etree._Element, number: int, change: Callable[[etree._Element], None]) -> bytes:
    copy = deepcopy(tree)
    change(list(copy.iter())[number])
    return etree.tostring(copy)


def rename(element: etree._Element, name: str) -> None:
    element.set(f"{name}_", element.attrib.pop(name))


def leave_out(element: etree._Element) -> None:
    element.getparent().remove(element)


def double(element: etree._Element) -> None:
    element.addnext(deepcopy(element))


def move_up(element: etree._Element) -> None:
    parent = element.getparent()
    if parent.getparent() is not None:
        parent.getparent().append(element)


def move_to_the_end(element: etree._Element) -> None:
    element.getparent().append(element)


def move_into_itself(element: etree._Element) -> None:
    element.append(deepcopy(element))


def put_text(element: etree._Element) -> None:
    element.text = "text"


CHANGES = {
    change.__name__: change
    for change in (leave_out, double, move_up, move_to_the_end, move_into_itself, put_text)
}


def faults(body: bytes) -> list[str]:
    try:
        read_job(body, "application/xml", NAMES, "alice", False, strict=True)
    except FaultyInput as wrong:
        return [fault.message for fault in wrong.faults]
    return []


@pytest.mark.parametrize("body", SOUND.values(), ids=SOUND)
def test_job__damaged_anywhere__both_agree(body: bytes) -> None:
    seen = {True: 0, False: 0}
    for what, harmed in damaged(body):
        found = faults(harmed)
        if is_valid(harmed):
            assert all(any(word in message for word in VALUES) for message in found), (what, found)
        else:
            assert found, what
        seen[is_valid(harmed)] += 1
    assert seen[True] and seen[False]
