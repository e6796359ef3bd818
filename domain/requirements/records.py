"""Questions about what a system has a list of: its keys, devices, arches and exclusions.

Whatever is in such a list is known; of a list that is missing it is known that it holds nothing. Each answers
with a bitmap of the systems, to be cut down to those there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any

from domain.requirements.columns import Columns
from domain.requirements.nodes import Compatible, Device, KeyValue
from domain.requirements.operators import compare_keyed, fold, test


def key_value(node: KeyValue, columns: Columns) -> int:
    """Who has the key with such a value; with `!=`, who has none such."""
    key, value = fold(node.key), fold(node.value)
    op = "==" if node.op == "!=" else node.op
    true = _union(
        bits
        for (held_key, held), bits in held_in(columns, "key_values")
        if held_key == key and (value is None or compare_keyed(op, held, value))
    )
    return ~true if node.op == "!=" else true


def device(node: Device, columns: Columns) -> int:
    """Who has such a device; with `!=`, who has none such. The type of a device is never a pattern."""
    op = "like" if node.op == "like" else "=="
    wanted = [(name, test("==" if name == "type" else op, fold(value))) for name, value in node.attributes]
    true = _union(
        bits
        for devices, bits in held_in(columns, "devices")
        if any(_is_such(dict(device), wanted) for device in devices)
    )
    return ~true if node.op == "!=" else true


def _is_such(device: dict[str, str | int], wanted: list[tuple[str, Callable[[object], bool]]]) -> bool:
    return all(name in device and passes(device[name]) for name, passes in wanted)


def compatible(node: Compatible, columns: Columns) -> int:
    arch, family, version = fold(node.arch), fold(node.family), fold(node.version)

    def excludes(exclusion: dict[str, str | int]) -> bool:
        """Who names no version asks for all of them."""
        same = (exclusion.get("arch"), exclusion.get("family")) == (arch, family)
        return same and (version is None or exclusion.get("version") in (None, version))

    return _union(
        bits
        for (arches, excluded), bits in held_in(columns, "installable")
        if arch in arches and not any(excludes(dict(each)) for each in excluded)
    )


def held_in(columns: Columns, name: str) -> Iterable[tuple[Any, int]]:
    """Each value of a property that lists something, and who has it."""
    return columns[name].holders.items()


def _union(bitmaps: Iterable[int]) -> int:
    return reduce(int.__or__, bitmaps, 0)
