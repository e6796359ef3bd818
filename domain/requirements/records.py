"""Questions about the lists of a system: its keys, devices, arches and exclusions.

A missing list counts as empty. Each function returns a bitmap of systems. It may include numbers without a
system, which the caller removes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from typing import Any, Final

from domain.requirements.columns import Columns
from domain.requirements.nodes import Compatible, Device, KeyValue
from domain.requirements.operators import NEGATIVE, fold, keyed_test, test
from domain.requirements.property import Record

# The key of this index in the cache of a property.
EACH: Final = "holders of each"


def key_value(node: KeyValue, columns: Columns) -> int:
    """Return the systems that have the key with a matching value; with `!=` or `other`, all others."""
    key, value = fold(node.key), fold(node.value)
    is_negative = node.op in NEGATIVE
    passes = keyed_test("==" if is_negative else node.op, value)
    true = _union(
        bits for (held_key, held), bits in held_in(columns, "key_values") if held_key == key and passes(held)
    )
    return ~true if is_negative else true


def device(node: Device, columns: Columns) -> int:
    """Return the systems that have a matching device; with `!=`, all others. `type` is never a pattern."""
    op = "like" if node.op == "like" else "=="
    wanted = [(name, test("==" if name == "type" else op, fold(value))) for name, value in node.attributes]
    true = _union(
        bits for device, bits in holders_of_each(columns, "devices").items() if _is_such(dict(device), wanted)
    )
    return ~true if node.op == "!=" else true


def _is_such(device: dict[str, str | int], wanted: list[tuple[str, Callable[[object], bool]]]) -> bool:
    return all(name in device and passes(device[name]) for name, passes in wanted)


def compatible(node: Compatible, columns: Columns) -> int:
    arch, family, version = fold(node.arch), fold(node.family), fold(node.version)

    def excludes(exclusion: dict[str, str | int]) -> bool:
        """Return whether an exclusion applies; if no version is required, that of any version does."""
        same = (exclusion.get("arch"), exclusion.get("family")) == (arch, family)
        return same and (version is None or exclusion.get("version") in (None, version))

    return _union(
        bits
        for (arches, excluded), bits in held_in(columns, "installable")
        if arch in arches and not any(excludes(dict(each)) for each in excluded)
    )


def held_in(columns: Columns, name: str) -> Iterable[tuple[Any, int]]:
    """Return each value of a list property, with the systems that have it."""
    return columns[name].holders.items()


def holders_of_each(columns: Columns, name: str) -> Mapping[Record, int]:
    """Return, for each distinct record in the lists of a property, the systems that have it."""
    kept = columns.kept[name]
    found: dict[Record, int] | None = kept.get(EACH)
    if found is None:
        found = {}
        for records, bits in held_in(columns, name):
            for record in records:
                found[record] = found.get(record, 0) | bits
        kept[EACH] = found
    return found


def _union(bitmaps: Iterable[int]) -> int:
    return reduce(int.__or__, bitmaps, 0)
