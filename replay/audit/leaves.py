"""Readers of the leaves of a host requirement. Each returns a test of the facts of a system or a disk."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from replay.audit.comparisons import COMPARE, Test, compared, like
from replay.audit.facts import DEVICE_ATTRIBUTES, Facts

Ternary = bool | None
Predicate = Callable[[Facts], Ternary]
Form = Mapping[str, Any]


class Condition(NamedTuple):
    """A test, and the facts (`about`) that its result depends on."""

    about: frozenset[str]
    holds: Predicate


EQUALITY = ("==", "!=")
# For collections: as `!=`, but an empty collection satisfies neither this nor its negation.
OTHER = "other"

UNITS = {
    "bytes": 1,
    "B": 1,
    "kB": 1000,
    "KB": 1000,
    "KiB": 1024,
    "MB": 1000**2,
    "MiB": 1024**2,
    "GB": 1000**3,
    "GiB": 1024**3,
    "TB": 1000**4,
    "TiB": 1024**4,
}

# Longer numbers are compared as text.
WHOLE = re.compile(r"-?[0-9]{1,18}")
TRUTHS = {"true": True, "1": True, "false": False, "0": False}


def _compared(fact: str, op: str, operand: Any) -> Predicate:
    if op == "like":
        return _tested(fact, like(str(operand).casefold()))
    compare = COMPARE[op]

    def holds(facts: Facts) -> Ternary:
        value = facts[fact]
        return None if value is None else compare(value, operand)

    return holds


def _tested(fact: str, test: Test) -> Predicate:
    def holds(facts: Facts) -> Ternary:
        value = facts[fact]
        return None if value is None else test(value)

    return holds


# Readers: each takes the name of the fact, the operator and the form of a leaf.


def text(fact: str, op: str, form: Form) -> Predicate:
    return _compared(fact, op, str(form["value"]).casefold())


def whole(fact: str, op: str, form: Form) -> Predicate:
    return _compared(fact, op, form["value"] if op == "like" else int(form["value"]))


def number(fact: str, op: str, form: Form) -> Predicate:
    """Compare a number; a pattern is matched against the number without a zero fraction."""
    if op != "like":
        return _compared(fact, op, float(form["value"]))
    test = like(str(form["value"]).casefold())
    return _tested(fact, lambda value: test(int(value) if value == int(value) else value))


def size(fact: str, op: str, form: Form) -> Predicate:
    if form.get("units", "bytes") not in UNITS:
        raise UnknownLeaf(f"{dict(form)}")
    if op == "like":
        return _compared(fact, op, form["value"])
    return _compared(fact, op, int(form["value"]) * UNITS[form.get("units", "bytes")])


def truth(fact: str, op: str, form: Form) -> Predicate:
    wanted = TRUTHS.get(str(form["value"]).casefold())
    if wanted is None:
        raise UnknownLeaf(f"{dict(form)}")
    return _compared(fact, op, wanted)


def yes(fact: str, op: str, form: Form) -> Predicate:
    """Require a true value. Any word but a negative one may be written."""
    if str(form["value"]).casefold() in ("", "no", "false", "0"):
        raise UnknownLeaf(f"{dict(form)}")
    return _compared(fact, op, True)


def day(fact: str, op: str, form: Form) -> Predicate:
    return _compared(fact, op, str(form["value"]))


def day_or_never(fact: str, op: str, form: Form) -> Predicate:
    """Compare a day; the empty text stands for no day."""
    if form["value"] != "":
        return day(fact, op, form)
    if op not in EQUALITY:
        raise UnknownLeaf(f"{dict(form)}")
    return lambda facts: (facts[fact] is None) is (op == "==")


def member(fact: str, op: str, form: Form) -> Predicate:
    wanted = str(form["value"]).casefold()
    if op == OTHER:
        return lambda facts: (wanted not in facts[fact]) if facts[fact] else None
    if op == "!=":
        return lambda facts: wanted not in facts[fact]
    if op == "==":
        return lambda facts: wanted in facts[fact]
    test = compared(op, wanted)
    return lambda facts: any(map(test, facts[fact]))


def member_or_none(fact: str, op: str, form: Form) -> Predicate:
    """Compare the members of a collection; the empty text stands for an empty collection."""
    if form["value"] != "" or op not in EQUALITY:
        return member(fact, op, form)
    return lambda facts: (not facts[fact]) is (op == "==")


def keyed(fact: str, op: str, form: Form) -> Predicate:
    """Require a value of a key, or only the key; `!=` requires that no value, or no key, matches."""
    if op == OTHER:
        has_not = keyed(fact, "!=", form)
        return lambda facts: has_not(facts) if facts[fact] else None
    key, wanted = str(form["key"]).casefold(), form.get("value")
    if wanted is None:
        if op not in EQUALITY:
            raise UnknownLeaf(f"{dict(form)}")
        return lambda facts: any(held == key for held, _ in facts[fact]) is (op == "==")
    test = _of_key("==" if op == "!=" else op, str(wanted).casefold())
    return lambda facts: any(held == key and test(value) for held, value in facts[fact]) is (op != "!=")


def _of_key(op: str, wanted: str) -> Test:
    """Compare two whole numbers as numbers, anything else as text."""
    as_text = compared(op, wanted)
    if op == "like" or not WHOLE.fullmatch(wanted):
        return as_text
    as_number = compared(op, int(wanted))
    return lambda held: as_number(int(held)) if WHOLE.fullmatch(held) else as_text(held)


def device(fact: str, op: str, form: Form) -> Predicate | None:
    """Require a device with all given attributes; `!=` requires that there is none.

    The type is never a pattern. Return None if no attribute is given.
    """
    wanted = {name: str(form[name]).casefold() for name in DEVICE_ATTRIBUTES if form.get(name) is not None}
    if not wanted:
        return None
    tests = {
        name: compared("like" if op == "like" and name != "type" else "==", value)
        for name, value in wanted.items()
    }

    def is_such(held: dict[str, str]) -> bool:
        return all(name in held and test(held[name]) for name, test in tests.items())

    return lambda facts: any(is_such(dict(each)) for each in facts[fact]) is (op != "!=")


def compatible(fact: str, op: str, form: Form) -> Predicate:
    """Require an arch and family that the system does not exclude, in that version or, if none, in any."""
    arch, family = str(form["arch"]).casefold(), str(form["osmajor"]).casefold()
    version = None if form.get("osminor") is None else str(form["osminor"]).casefold()

    def holds(facts: Facts) -> Ternary:
        arches, exclusions = facts[fact]
        excluded = {row[2] for row in exclusions if row[:2] == (arch, family)}
        return arch in arches and not (excluded if version is None else excluded & {None, version})

    return holds


class UnknownLeaf(Exception):
    """A condition that the audit cannot evaluate."""
