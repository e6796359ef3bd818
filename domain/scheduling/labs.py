"""The systems of all labs as numbered columns, for questions about many systems at once.

A system keeps its number for as long as the process lives. Bit n of a bitmap stands for system number n.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from domain.requirements import Columns
from domain.system.state import System


class Labs:
    """Mutable: `put` a system or a distro tree as the log changes it, then ask for bitmaps."""

    def __init__(self) -> None:
        self.columns = Columns()
        self.registered = 0
        self.names: list[str] = []
        self._numbers: dict[str, int] = {}
        self._by_controller: dict[str, int] = {}
        self._by_arch: dict[str, int] = {}
        self._excluding: dict[tuple[Any, Any, Any], int] = {}
        self._trees: dict[int, Mapping[str, Any]] = {}

    def number(self, fqdn: str) -> int:
        return self._numbers[fqdn]

    def put(self, system: System, pools: tuple[str, ...]) -> int:
        """Take in a system whose inventory, condition, lab or pools are new or changed; its number."""
        number = self._numbers.get(system.fqdn)
        if number is None:
            number = self._numbers[system.fqdn] = len(self.names)
            self.names.append(system.fqdn)
        else:
            self._forget(number)
        bit = 1 << number
        inventory = {**system.inventory, "fqdn": system.fqdn, "pools": list(pools)}
        self.columns.put(number, inventory)
        _add(self._by_controller, system.lab_controller, bit)
        for arch in inventory.get("arches") or ():
            _add(self._by_arch, arch, bit)
        for exclusion in inventory.get("excluded_families") or ():
            key = (exclusion.get("arch"), exclusion.get("family"), exclusion.get("version"))
            _add(self._excluding, key, bit)
        if system.condition != "Removed":
            self.registered |= bit
        return number

    def alone(self, system: System, pools: tuple[str, ...]) -> Labs:
        """A lab of this one system and the same distro trees: what holds there holds for the system."""
        lab = Labs()
        lab._trees = self._trees
        lab.put(system, pools)
        return lab

    def put_tree(self, tree_id: int, tree: Mapping[str, Any]) -> None:
        self._trees[tree_id] = tree

    def tree(self, tree_id: int | None) -> Mapping[str, Any] | None:
        return None if tree_id is None else self._trees.get(tree_id)

    def with_tree(self, tree_id: int | None) -> int:
        """Systems of the labs that have the tree."""
        tree = self.tree(tree_id)
        if tree is None:
            return 0
        return _union(self._by_controller.get(name, 0) for name, urls in tree["urls"].items() if urls)

    def with_arch_of_tree(self, tree_id: int | None) -> int:
        tree = self.tree(tree_id)
        return 0 if tree is None else self._by_arch.get(tree["arch"], 0)

    def not_excluding_tree(self, tree_id: int | None) -> int:
        """All but the systems that exclude the tree's family, or this version of it, on its arch."""
        tree = self.tree(tree_id)
        if tree is None:
            return 0
        arch, family = tree["arch"], tree["family"]
        whole = self._excluding.get((arch, family, None), 0)
        return self.registered & ~(whole | self._excluding.get((arch, family, tree["version"]), 0))

    def _forget(self, number: int) -> None:
        keep = ~(1 << number)
        self.columns.remove(number)
        self.registered &= keep
        for index in (self._by_controller, self._by_arch, self._excluding):
            for key in index:
                index[key] &= keep  # type: ignore[index]


def _add(index: dict[Any, int], key: Any, bit: int) -> None:
    index[key] = index.get(key, 0) | bit


def _union(bitmaps: Iterator[int]) -> int:
    together = 0
    for bitmap in bitmaps:
        together |= bitmap
    return together


def numbers_in(bitmap: int) -> Iterator[int]:
    """The numbers whose bits are set, ascending; costs one step for each."""
    while bitmap:
        low = bitmap & -bitmap
        yield low.bit_length() - 1
        bitmap ^= low
