"""The elements of a host requirement: one question each about one system, or one disk of it."""

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
ALL = (*COMPARE, "like")

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

WHOLE = re.compile(r"-?[0-9]+")


def read_leaf(form: Form) -> Question | None:
    """None: it asks nothing. Raises UnknownLeaf."""
    known = ELEMENTS.get(form["element"])
    op = _op(form)
    if known is None:
        raise UnknownLeaf(f"{dict(form)}")
    read, fact, ops, attributes = known
    if op not in ops or set(form) - {"element", "op", *attributes}:
        raise UnknownLeaf(f"{dict(form)}")
    ask = read(fact, op, form)
    return None if ask is None else Question(frozenset({fact}), ask)


def read_disk_leaf(form: Form) -> Question:
    """Of one disk its size is asked for."""
    op = _op(form)
    if form["element"] != "size" or set(form) - {"element", "op", "value", "units"} or op not in ALL:
        raise UnknownLeaf(f"{dict(form)}")
    if op == "like":
        return _of_size(op, form["value"])
    if form.get("units", "bytes") not in UNITS:
        raise UnknownLeaf(f"{dict(form)}")
    return _of_size(op, int(form["value"]) * UNITS[form.get("units", "bytes")])


def _of_size(op: str, operand: Any) -> Question:
    return Question(frozenset({"size"}), _compared("size", op, operand))


def _op(form: Form) -> str:
    op: str = form.get("op", "==")
    return "==" if op == "=" else op


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


def _text(fact: str, op: str, form: Form) -> Ask:
    return _compared(fact, op, str(form["value"]).casefold())


def _number(fact: str, op: str, form: Form) -> Ask:
    return _compared(fact, op, form["value"] if op == "like" else int(form["value"]))


def _day(fact: str, op: str, form: Form) -> Ask:
    """Nobody has looked at it yet: the empty day. Somebody has: not the empty day."""
    if form["value"] != "":
        return _compared(fact, op, str(form["value"]))
    if op not in EQUALITY:
        raise UnknownLeaf(f"{dict(form)}")
    return lambda facts: (facts[fact] is None) is (op == "==")


def _member(fact: str, op: str, form: Form) -> Ask:
    wanted = str(form["value"]).casefold()
    if op == "like":
        test = like(wanted)
        return lambda facts: any(map(test, facts[fact]))
    return lambda facts: (wanted in facts[fact]) is (op == "==")


def _pool(fact: str, op: str, form: Form) -> Ask:
    """The empty name stands for no pool at all."""
    if form["value"] != "":
        return _member(fact, op, form)
    return lambda facts: (not facts[fact]) is (op == "==")


def _key(fact: str, op: str, form: Form) -> Ask:
    """Some value of the key is as asked; `!=`: none is. Without a value: it has the key, or lacks it."""
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


def _device(fact: str, op: str, form: Form) -> Ask | None:
    """One device has all of it; `!=`: none has. Its type is never a pattern. Nothing is asked of nothing."""
    wanted = {name: str(form[name]).casefold() for name in DEVICE_ATTRIBUTES if form.get(name) is not None}
    if not wanted:
        return None
    tests = {
        name: compared("like" if op == "like" and name != "type" else "==", value)
        for name, value in wanted.items()
    }

    def is_such(device: dict[str, str]) -> bool:
        return all(name in device and test(device[name]) for name, test in tests.items())

    return lambda facts: any(is_such(dict(device)) for device in facts[fact]) is (op != "!=")


Reader = Callable[[str, str, Form], Ask | None]

VALUE = ("value",)

Known = tuple[Reader, str, tuple[str, ...], tuple[str, ...]]
_SPELT: dict[tuple[str, ...], Known] = {
    ("system_type", "system/type"): (_text, "type", (*EQUALITY, "like"), VALUE),
    ("hostname", "system/name"): (_text, "fqdn", ALL, VALUE),
    ("hypervisor", "system/hypervisor"): (_text, "hypervisor", ALL, VALUE),
    ("memory", "system/memory"): (_number, "memory_mb", ALL, VALUE),
    ("numa_node_count", "system/numanodes"): (_number, "numa_nodes", ALL, VALUE),
    ("cpu/processors", "cpu_count"): (_number, "processors", ALL, VALUE),
    ("cpu/cores",): (_number, "cores", ALL, VALUE),
    ("cpu/sockets",): (_number, "sockets", ALL, VALUE),
    ("diskcount",): (_number, "disk_count", ALL, VALUE),
    ("system/last_inventoried",): (_day, "inventoried", tuple(COMPARE), VALUE),
    ("arch", "system/arch"): (_member, "arches", EQUALITY, VALUE),
    ("cpu/flag",): (_member, "flags", (*EQUALITY, "like"), VALUE),
    ("pool",): (_pool, "pools", EQUALITY, VALUE),
    ("key_value",): (_key, "keys", ALL, ("key", "value")),
    ("device",): (_device, "devices", (*EQUALITY, "like"), DEVICE_ATTRIBUTES),
}
ELEMENTS: dict[str, Known] = {
    spelling: known for spellings, known in _SPELT.items() for spelling in spellings
}
"""How a leaf is read, which fact it asks for, and with what operators and attributes."""


class UnknownLeaf(Exception):
    """This question is not known here, and its answer will not be guessed."""
