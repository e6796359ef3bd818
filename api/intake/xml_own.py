"""Shapes of Labledger's own elements of a job, in the namespace `urn:labledger:job`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from lxml import etree

from api.intake.xml_record import Record, sub_element
from api.intake.xml_shapes import Text
from api.intake.xml_walk import OWN_NAMESPACE, Walk, attributes_of, refuse_child, refuse_text
from domain.admission.dependencies import DEFAULT_STATES
from domain.contention.documents import NAMED
from domain.contention.locks import WHOLE_LAB


def own(name: str) -> str:
    """Return the tag of an element in Labledger's namespace."""
    return f"{{{OWN_NAMESPACE}}}{name}"


_LOCK: Final = own("lock")
_NAME: Final = own("name")
_LOCK_ATTRIBUTES: Final = ("level", "kind")
_NAME_SHAPE: Final = Text()


@dataclass(frozen=True)
class LocksElement:
    """`<locks>` with a `<lock>` for each level, or two for one level, as a document of locks by level.

    `words` has the values of the attribute `whole_lab`.
    """

    words: Mapping[str, bool]

    def read(self, element: etree._Element, walk: Walk) -> dict[str, Any]:
        locks: dict[str, Any] = {}
        for name, text in attributes_of(element):
            if name == WHOLE_LAB:
                locks[WHOLE_LAB] = self.words.get(text, text)
            else:
                walk.unknown_attribute(element, name, (WHOLE_LAB,))
        refuse_text(element, walk)
        first: dict[str, etree._Element] = {}
        for child in element:
            if child.tag != _LOCK:
                refuse_child(child, element, walk, (_LOCK,))
            elif (found := _read_lock(child, walk)) is not None:
                _add(*found, child, locks, first, walk)
        return locks

    def write(self, part: Any, element: etree._Element) -> None:
        for level, locks in part.items():
            if level == WHOLE_LAB:
                element.set(WHOLE_LAB, next(word for word, value in self.words.items() if value is locks))
                continue
            for lock in locks if isinstance(locks, list) else [locks]:
                _write_lock(level, lock, element)


def _read_lock(element: etree._Element, walk: Walk) -> tuple[str, Any] | None:
    """Return the level and the lock of a `<lock>`; report the faults of an incomplete one."""
    attributes = dict(attributes_of(element))
    for name in attributes.keys() - set(_LOCK_ATTRIBUTES):
        walk.unknown_attribute(element, name, _LOCK_ATTRIBUTES)
    refuse_text(element, walk)
    missing = [name for name in _LOCK_ATTRIBUTES if name not in attributes]
    if missing:
        walk.fault(element, f'has no attribute "{missing[0]}"')
        return None
    level, kind = (attributes[name] for name in _LOCK_ATTRIBUTES)
    if level == WHOLE_LAB:
        walk.fault(element, f'the lock on the whole lab is <locks {WHOLE_LAB}="true">')
        return None
    names: list[str] = []
    for child in element:
        if child.tag == _NAME:
            walk.locations.register(names, len(names), child)
            names.append(_NAME_SHAPE.read(child, walk))
        else:
            refuse_child(child, element, walk, (_NAME,))
    if names:
        lock = {kind: names}
        walk.locations.register(lock, kind, element)
        return level, lock
    if kind in NAMED:
        walk.fault(element, "has no <name>")
        return None
    return level, kind


def _add(
    level: str,
    lock: Any,
    element: etree._Element,
    locks: dict[str, Any],
    first: dict[str, etree._Element],
    walk: Walk,
) -> None:
    """Add a lock to the document; several locks of a level are a list. `first` has the elements by level."""
    if level not in first:
        locks[level], first[level] = lock, element
        walk.locations.register(locks, level, element)
    else:
        if not isinstance(locks[level], list):
            locks[level] = [locks[level]]
            walk.locations.register(locks[level], 0, first[level])
        walk.locations.register(locks[level], len(locks[level]), element)
        locks[level].append(lock)


def _write_lock(level: str, lock: Any, element: etree._Element) -> None:
    ((kind, names),) = lock.items() if isinstance(lock, Mapping) else ((lock, ()),)
    written = sub_element(element, _LOCK)
    written.set("level", level)
    written.set("kind", kind)
    for name in names:
        _NAME_SHAPE.write(name, sub_element(written, _NAME))


@dataclass(frozen=True)
class DependsOnElement:
    """`<depends-on>` as the document of a dependency; the attribute `states` separates them by blanks."""

    record = Record(
        {"job": "job", "recipe_set": "recipe_set", "states": "states"}, numbers=("job", "recipe_set")
    )

    def read(self, element: etree._Element, walk: Walk) -> dict[str, Any]:
        document = self.record.read(element, walk)
        if "states" in document:
            document["states"] = document["states"].split()
        return document

    def write(self, part: Any, element: etree._Element) -> None:
        """Write all but the default states."""
        states = part.get("states", DEFAULT_STATES)
        document = {field: value for field, value in part.items() if field != "states"}
        if tuple(states) != DEFAULT_STATES:
            document["states"] = " ".join(states)
        self.record.write(document, element)
