"""What a host requirement (its canonical JSON text) says of one system: slowly, and leaf by leaf.

Three-valued, as the language is: of what is not known of a system neither a question nor its negation holds.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

Document = Mapping[str, Any]
Answer = bool | None

COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
# The one value of a property, by element; under its older spelling too.
VALUES: dict[str, str] = {
    "system_type": "type",
    "system/type": "type",
    "hostname": "fqdn",
    "system/name": "fqdn",
    "memory": "memory_mb",
    "system/memory": "memory_mb",
    "hypervisor": "hypervisor",
    "numa_node_count": "numa_nodes",
}
# Several values; what is missing holds nothing, and is known to.
SETS: dict[str, str] = {"pool": "pools", "arch": "arches"}


def holds(host_requires: str, system: Document) -> bool:
    """Whether the system is known to be as asked. Raises UnknownLeaf."""
    return judge(_form(host_requires), system) is True


def judge(form: Document, system: Document) -> Answer:
    if "element" in form:
        return _leaf(form, system)
    if len(form) != 1:
        raise UnknownLeaf(f"{dict(form)}")
    ((word, inner),) = form.items()
    if word == "force":
        return bool(_folded(system["fqdn"]) == _folded(inner))
    if word not in ("and", "or", "not"):
        raise UnknownLeaf(f"{dict(form)}")
    if not inner:
        return True
    answers = [judge(child, system) for child in inner]
    if word == "or":
        return True if True in answers else None if None in answers else False
    every = False if False in answers else None if None in answers else True
    return every if word == "and" or every is None else not every


def _leaf(form: Document, system: Document) -> Answer:
    element, op = form["element"], form.get("op", "==")
    if set(form) - {"element", "op", "value"} or op not in (*COMPARE, "like"):
        raise UnknownLeaf(f"{dict(form)}")
    if element in SETS:
        return _member(form, op, system.get(SETS[element]) or ())
    if element not in VALUES:
        raise UnknownLeaf(f"{dict(form)}")
    value = system.get(VALUES[element])
    return None if value is None else _compared(op, value, form["value"])


def _member(form: Document, op: str, members: Any) -> bool:
    """Nothing is asked for by an empty value: whether there is no member at all."""
    if op not in ("==", "!="):
        raise UnknownLeaf(f"{dict(form)}")
    wanted = _folded(form["value"])
    held = wanted in map(_folded, members) if wanted else not members
    return held is (op == "==")


def _compared(op: str, value: Any, operand: Any) -> bool:
    if op == "like":
        written = "".join({"%": ".*", "_": "."}.get(sign, re.escape(sign)) for sign in str(operand))
        return re.fullmatch(written, str(value), re.IGNORECASE | re.DOTALL) is not None
    return COMPARE[op](_folded(value), _folded(operand))


def _folded(value: Any) -> Any:
    return value.casefold() if isinstance(value, str) else value


@lru_cache(4096)
def _form(text: str) -> Document:
    form: Document = json.loads(text)
    return form


class UnknownLeaf(Exception):
    """The checker does not know this question, and will not guess the answer."""
