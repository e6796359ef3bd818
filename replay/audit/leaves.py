"""The kinds of questions that an element of a host requirement may be, of one system or one disk of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from replay.audit.comparisons import COMPARE, Test, compared, like
from replay.audit.facts import DEVICE_ATTRIBUTES, Facts

Answer = bool | None
Ask = Callable[[Facts], Answer]
Form = Mapping[str, Any]


class Question(NamedTuple):
    """`about` are the facts that the answer depends on."""

    about: frozenset[str]
    ask: Ask


EQUALITY = ("==", "!=")
# Of a list that has members: as `!=`. An empty list answers neither this nor its negation.
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

# Longer ones are text.
WHOLE = re.compile(r"-?[0-9]{1,18}")
TRUTHS = {"true": True, "1": True, "false": False, "0": False}


def _compared(fact: str, op: str, operand: Any) -> Ask:
    if op == "like":
        return _known(fact, like(str(operand).casefold()))
    compare = COMPARE[op]

    def ask(facts: Facts) -> Answer:
        value = facts[fact]
        return None if value is None else compare(value, operand)

    return ask


def _known(fact: str, test: Test) -> Ask:
    def ask(facts: Facts) -> Answer:
        value = facts[fact]
        return None if value is None else test(value)

    return ask


# Each reads one kind of leaf: (name of the fact, operator, form).


def text(fact: str, op: str, form: Form) -> Ask:
    return _compared(fact, op, str(form["value"]).casefold())


def whole(fact: str, op: str, form: Form) -> Ask:
    return _compared(fact, op, form["value"] if op == "like" else int(form["value"]))


def number(fact: str, op: str, form: Form) -> Ask:
    """A pattern is laid against it as people write it: without places that are nought."""
    if op != "like":
        return _compared(fact, op, float(form["value"]))
    test = like(str(form["value"]).casefold())
    return _known(fact, lambda value: test(int(value) if value == int(value) else value))


def size(fact: str, op: str, form: Form) -> Ask:
    if form.get("units", "bytes") not in UNITS:
        raise UnknownLeaf(f"{dict(form)}")
    if op == "like":
        return _compared(fact, op, form["value"])
    return _compared(fact, op, int(form["value"]) * UNITS[form.get("units", "bytes")])


def truth(fact: str, op: str, form: Form) -> Ask:
    """Whether it is so, or is not."""
    wanted = TRUTHS.get(str(form["value"]).casefold())
    if wanted is None:
        raise UnknownLeaf(f"{dict(form)}")
    return _compared(fact, op, wanted)


def yes(fact: str, op: str, form: Form) -> Ask:
    """It is so, whatever word for yes is written."""
    if str(form["value"]).casefold() in ("", "no", "false", "0"):
        raise UnknownLeaf(f"{dict(form)}")
    return _compared(fact, op, True)


def day(fact: str, op: str, form: Form) -> Ask:
    return _compared(fact, op, str(form["value"]))


def day_or_never(fact: str, op: str, form: Form) -> Ask:
    """It has not happened yet: the empty day. It has: not the empty day."""
    if form["value"] != "":
        return day(fact, op, form)
    if op not in EQUALITY:
        raise UnknownLeaf(f"{dict(form)}")
    return lambda facts: (facts[fact] is None) is (op == "==")


def member(fact: str, op: str, form: Form) -> Ask:
    wanted = str(form["value"]).casefold()
    if op == OTHER:
        return lambda facts: (wanted not in facts[fact]) if facts[fact] else None
    if op == "!=":
        return lambda facts: wanted not in facts[fact]
    if op == "==":
        return lambda facts: wanted in facts[fact]
    test = compared(op, wanted)
    return lambda facts: any(map(test, facts[fact]))


def member_or_none(fact: str, op: str, form: Form) -> Ask:
    """The empty name stands for none at all."""
    if form["value"] != "" or op not in EQUALITY:
        return member(fact, op, form)
    return lambda facts: (not facts[fact]) is (op == "==")


def keyed(fact: str, op: str, form: Form) -> Ask:
    """Some value of the key is as asked; `!=`: none is. Without a value: it has the key, or lacks it."""
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
    """Two whole numbers compare as such, anything else as text."""
    as_text = compared(op, wanted)
    if op == "like" or not WHOLE.fullmatch(wanted):
        return as_text
    as_number = compared(op, int(wanted))
    return lambda held: as_number(int(held)) if WHOLE.fullmatch(held) else as_text(held)


def device(fact: str, op: str, form: Form) -> Ask | None:
    """One device has all of it; `!=`: none has. Its type is never a pattern. Nothing is asked of nothing."""
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


def compatible(fact: str, op: str, form: Form) -> Ask:
    """It has the architecture, and excludes neither the family nor, if one is named, the version; where none
    is, no version at all.
    """
    arch, family = str(form["arch"]).casefold(), str(form["osmajor"]).casefold()
    version = None if form.get("osminor") is None else str(form["osminor"]).casefold()

    def ask(facts: Facts) -> Answer:
        arches, exclusions = facts[fact]
        excluded = {row[2] for row in exclusions if row[:2] == (arch, family)}
        return arch in arches and not (excluded if version is None else excluded & {None, version})

    return ask


class UnknownLeaf(Exception):
    """This question is not known here, and its answer will not be guessed."""
