"""The systems of all labs as columns. A system keeps its number; numbers ascend in registration order."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from copy import copy
from typing import Any, Generic, NamedTuple, TypeVar

from domain.requirements import Columns
from domain.scheduling.bitsets.bit_sliced import BitSlicedNumbers
from domain.scheduling.bitsets.bitmaps import lowest, numbers_in, union
from domain.scheduling.supply.access import AccessIndex
from domain.system.state import System

K = TypeVar("K", bound=Hashable)


class Distro(NamedTuple):
    """A distro to install. A custom one of a job has no `tree_id`, and counts as present in every lab."""

    tree_id: int | None
    arch: str
    family: str
    version: str


class Index(Generic[K]):
    """Bitmaps of systems by the values of some property."""

    def __init__(self) -> None:
        self._bitmaps: dict[K, int] = {}
        self._keys: dict[int, tuple[K, ...]] = {}

    def put(self, number: int, *keys: K) -> bool:
        """Set the values of the property of a system; return whether they changed."""
        before, bit = self._keys.get(number), 1 << number
        if before == keys:
            return False
        for key in before or ():
            self._bitmaps[key] &= ~bit
        self._keys[number] = keys
        for key in keys:
            self._bitmaps[key] = self._bitmaps.get(key, 0) | bit
        return True

    def __getitem__(self, key: K) -> int:
        return self._bitmaps.get(key, 0)

    def items(self) -> Iterable[tuple[K, int]]:
        return self._bitmaps.items()


class PartOfLabs(NamedTuple):
    """A part of the systems as labs of their own, with all distro trees; numbers are reduced by `before`."""

    labs: Labs
    before: int


class Labs:
    """Systems and distro trees. Mutable: `put` each change, then query bitmaps."""

    def __init__(self) -> None:
        self.access = AccessIndex()
        self.columns = Columns()
        self.registered = 0
        self.names: list[str] = []
        self.lab_controller: Index[str] = Index()
        self.pool: Index[str] = Index()
        self.owner: Index[str] = Index()
        self._arch: Index[str] = Index()
        self._excluded: Index[tuple[str, str, str | None]] = Index()
        self._described: dict[int, tuple[System, tuple[str, ...]]] = {}
        self._numbers: dict[str, int] = {}
        self._trees: dict[int, Mapping[str, Any]] = {}
        self._places: BitSlicedNumbers | None = None

    def number(self, fqdn: str) -> int:
        return self._numbers[fqdn]

    def put(self, system: System, pools: tuple[str, ...]) -> frozenset[str] | None:
        """Store a system whose properties may have changed.

        Return the changed properties that requirements may name; None if every filter is concerned: the
        system is new or removed, or its lab, its architectures or its excluded families have changed.
        """
        number = self._numbers.get(system.fqdn)
        if number is None:
            number = self._numbers[system.fqdn] = len(self.names)
            self.names.append(system.fqdn)
            self._places = None
        return self._describe(number, system, pools)

    def _describe(self, number: int, system: System, pools: tuple[str, ...]) -> frozenset[str] | None:
        self._described[number] = system, pools
        self.owner.put(number, system.owner)
        self.pool.put(number, *pools)
        exclusions = system.inventory.get("excluded_families") or ()
        matters_to_all = (
            self._register(number, system.condition != "Removed"),
            self.lab_controller.put(number, system.lab_controller),
            self._arch.put(number, *(system.inventory.get("arches") or ())),
            self._excluded.put(number, *((ex["arch"], ex["family"], ex.get("version")) for ex in exclusions)),
        )
        changed = self.columns.put(number, described(system, pools))
        return None if any(matters_to_all) else changed

    def _register(self, number: int, is_there: bool) -> bool:
        before, bit = self.registered, 1 << number
        self.registered = before | bit if is_there else before & ~bit
        return self.registered != before

    def part(self, systems: int) -> PartOfLabs:
        """Return the systems of a bitmap, which is not empty, as labs of their own."""
        labs, before = Labs(), lowest(systems)
        labs._trees = self._trees
        for number in numbers_in(systems):
            labs._describe(number - before, *self._described[number])
        return PartOfLabs(labs, before)

    def first_by_name(self, among: int) -> int:
        """Return the number of the system that comes first by name; `among` is not empty."""
        if self._places is None:
            in_order = sorted(range(len(self.names)), key=self.names.__getitem__)
            self._places = BitSlicedNumbers({number: place for place, number in enumerate(in_order)})
        return self._places.least(among).bit_length() - 1

    def each(self) -> Iterator[tuple[str, int]]:
        """Yield each lab controller that has, or once had, systems, with the bitmap of its systems."""
        yield from self.lab_controller.items()

    # Distro trees

    def put_tree(self, tree_id: int, tree: Mapping[str, Any]) -> None:
        self._trees[tree_id] = tree

    def remove_tree(self, tree_id: int) -> None:
        self._trees.pop(tree_id, None)

    def tree(self, tree_id: int) -> Mapping[str, Any] | None:
        return self._trees.get(tree_id)

    def trees(self) -> Iterable[tuple[int, Mapping[str, Any]]]:
        return self._trees.items()

    def with_more_trees(self, trees: Mapping[int, Mapping[str, Any]]) -> Labs:
        """Return these labs with more distro trees. They share all other data, so the result is read-only."""
        labs = copy(self)
        labs._trees = {**self._trees, **trees}
        return labs

    def distro(self, tree_id: int | None) -> Distro | None:
        tree = None if tree_id is None else self._trees.get(tree_id)
        return None if tree is None else Distro(tree_id, tree["arch"], tree["family"], tree["version"])

    def labs_with(self, tree_id: int | None) -> tuple[str, ...]:
        tree = None if tree_id is None else self._trees.get(tree_id)
        return () if tree is None else tuple(name for name, urls in tree["urls"].items() if urls)

    def with_tree(self, tree_id: int | None) -> int:
        return union(self.lab_controller[name] for name in self.labs_with(tree_id))

    def with_arch(self, distro: Distro | None) -> int:
        return 0 if distro is None else self._arch[distro.arch]

    def not_excluding(self, distro: Distro | None) -> int:
        """Return the registered systems that do not exclude the family or version of a distro on its arch."""
        if distro is None:
            return 0
        whole = self._excluded[distro.arch, distro.family, None]
        return self.registered & ~(whole | self._excluded[distro.arch, distro.family, distro.version])


def described(system: System, pools: tuple[str, ...]) -> dict[str, Any]:
    """Return all properties of a system that a requirement may name (`domain.requirements.inventory`)."""
    return {
        **system.inventory,
        "fqdn": system.fqdn,
        "pools": list(pools),
        "owner": system.owner,
        "condition": system.condition,
        "lab_controller": system.lab_controller,
        "loaned_to": system.loan and system.loan.user,
        # Only people who have reserved the system: a recipe that runs on it is no property
        # (docs/decisions/0019).
        "user": system.reservation and system.reservation.user,
    }
