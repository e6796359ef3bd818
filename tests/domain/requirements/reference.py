"""What a form means for one system, written without columns: slow, plain, and not the code under test."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from typing import Any

Answer = bool | None

COMPARE: dict[str, Callable[[Any, Any], Answer]] = {
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "like": lambda value, pattern: fnmatchcase(value, pattern.replace("%", "*").replace("_", "?")),
}
SCALARS = {"memory": "memory_mb", "hostname": "fqdn", "hypervisor": "hypervisor", "system_type": "type"}
SETS = {"arch": "arches", "pool": "pools"}


def judge(form: Mapping[str, Any], system: Mapping[str, Any]) -> Answer:
    answer = _judge(form, system)
    return True if answer == "nothing asked" else answer


def _judge(form: Mapping[str, Any], system: Mapping[str, Any]) -> Any:
    if "element" in form:
        return _leaf(form, system)
    ((word, inner),) = form.items()
    if word == "disk":
        return _any_disk(inner, system)
    said = [answer for answer in (_judge(child, system) for child in inner) if answer != "nothing asked"]
    if not said:
        return "nothing asked"
    if word == "or":
        return True if True in said else None if None in said else False
    every = False if False in said else None if None in said else True
    return every if word == "and" else None if every is None else not every


def _leaf(form: Mapping[str, Any], system: Mapping[str, Any]) -> Answer:
    element, op = form["element"], form["op"]
    if element == "device":
        drivers = [device["driver"] for device in system.get("devices") or ()]
        return bool(form["driver"].lower() in drivers) is (op == "==")
    if element in SETS:
        members = system.get(SETS[element]) or []
        held = form["value"] in members if form["value"] else not members
        return bool(held) is (op == "==")
    if element == "cpu/sockets":
        return _compared((system.get("cpu") or {}).get("sockets"), form)
    return _compared(system.get(SCALARS.get(element, "size_bytes")), form)


def _compared(value: Any, form: Mapping[str, Any]) -> Answer:
    operand = form["value"]
    if value is None:
        return None
    if isinstance(value, str):
        value, operand = value.lower(), operand.lower()
    return COMPARE[form["op"]](value, operand)


def _any_disk(inner: list[Any], system: Mapping[str, Any]) -> Answer:
    if system.get("disks") is None:
        return None
    said = [judge({"and": inner}, disk) for disk in system["disks"]]
    return True if True in said else None if None in said else False
