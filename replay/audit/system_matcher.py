"""Candidates and obtainable systems of recipes (design 1, 5.1), evaluated again only for changed systems."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from replay.audit.facts import Facts, facts_of
from replay.audit.queues import Rank, RecipeNeed, SubmitterQueue
from replay.audit.requirement_cache import RequirementCache
from replay.audit.rights import ANY_SUBMITTER, URGENT, Submitter
from replay.audit.scheduler_view import SchedulerView
from replay.audit.values import Distro, Recipe, System
from replay.audit.world import FoldedWorld


@dataclass
class SystemFacts:
    """The facts of one system at a position, and which of the first `requirements` it refuses (bitmap)."""

    described: int
    facts: Facts
    requirements: int = 0
    refused: int = 0


class UsableSystems:
    """Usable systems of a lab for a need, lazily, at its `lab_version`; `changes` counts applied changes."""

    def __init__(self, is_usable: Callable[[str], bool], fqdns: list[str], lab_version: int) -> None:
        self.lab_version = lab_version
        self.changes = 0
        self._is_usable = is_usable
        self._unchecked = iter(fqdns)
        self._usable: list[str] = []

    def __iter__(self) -> Iterator[str]:
        """Iterate over the systems; a system may come twice. Iterations may run concurrently."""
        index = 0
        while True:
            while index < len(self._usable):
                yield self._usable[index]
                index += 1
            another = next(filter(self._is_usable, self._unchecked), None)
            if another is None:
                return
            self._usable.append(another)

    def change(self, changed: list[str]) -> None:
        for fqdn in dict.fromkeys(changed[self.changes :]):
            self._usable = [other for other in self._usable if other != fqdn]
            if self._is_usable(fqdn):
                self._usable.append(fqdn)
        self.changes = len(changed)


class SystemMatcher:
    """The systems that recipes may get now, without limits of access or contact unless `by_…` is set."""

    def __init__(self, world: SchedulerView, by_access: bool = True, by_contact: bool = True) -> None:
        # Lab -> its last holder version at which all its holders could be completed.
        self.safe_versions: dict[str, int] = {}
        self._world = world
        self._by_access = by_access
        self._by_contact = by_contact
        self._requirements_cache = RequirementCache()
        self._systems: dict[str, SystemFacts] = {}
        self._cached: dict[tuple[str, RecipeNeed, Submitter], UsableSystems] = {}

    def fits(self, need: RecipeNeed, system: System) -> bool:
        """Return whether a recipe with this need could run on a system, busy or not, regardless of access."""
        if self._refused(system) >> need.requirements.number & 1 or system.condition == "Removed":
            return False
        return _in_lab(self._world, need, system.lab) and _installs(
            self._world, need.requirements.distro, system
        )

    def is_readable(self, need: RecipeNeed) -> bool:
        """Return whether the requirement can be read; if not, no system is usable, without a violation."""
        self._keep_up()
        return not self._requirements_cache.unknown >> need.requirements.number & 1

    def highest_priority(self, submitter: Submitter, system: System) -> int | None:
        """Return a submitter's highest effective priority on a system (0 is Urgent), None without access."""
        if not self._by_access:
            return URGENT
        return None if system.rights.is_lent_away(submitter) else system.rights.highest_priority(submitter)

    def is_lent_away(self, recipe: Recipe, system: System) -> bool:
        """Return whether a system is on loan to another user than the owner of a recipe."""
        return self._by_access and system.rights.is_lent_away(recipe.submitter)

    def may_submit(self, recipe: Recipe, system: System) -> bool:
        """Return whether a recipe's owner or group may submit to a system, regardless of loans."""
        submitter = self._world.representative(recipe.submitter)
        return not self._by_access or system.rights.highest_priority(submitter) is not None

    def is_obtainable(self, need: RecipeNeed, system: System) -> bool:
        """Return whether a system fits a need and accepts recipes once it is free, regardless of access.

        That is a system of the partition's labs.
        """
        if not self._world.has_lab(system.lab) or (self._by_contact and system.lab in self._world.silent):
            return False
        return self.fits(need, system) and accepts_recipes(self._world, need, system)

    def is_obtainable_for(self, recipe: Recipe, system: System) -> bool:
        """Return whether a recipe could get a system, in the lab to which its set is bound, if any."""
        lab_is_right = recipe.state != "assigned" or recipe.lab == system.lab
        return lab_is_right and self.is_obtainable(self._world.need(recipe), system)

    def could_take(self, recipe: Recipe, system: System) -> bool:
        """Return whether a system is usable for a recipe, in the lab of its set if that has one."""
        submitter = self._world.representative(recipe.submitter)
        return self.is_obtainable_for(recipe, system) and self.highest_priority(submitter, system) is not None

    def obtainable_needs(self, queue: SubmitterQueue, system: System, end: Rank) -> list[RecipeNeed]:
        """Return the needs in a queue that a system suits, in order of their first recipes, up to the end."""
        open_to = queue.needs(~self._refused(system), end)
        found = [need for need in open_to if self.is_obtainable(need, system)]
        return sorted(found, key=lambda need: queue.ranks_of(need)[0])

    def usable_systems(self, recipe: Recipe, lab: str) -> UsableSystems:
        world, need = self._world, self._world.need(recipe)
        submitter = world.representative(recipe.submitter) if self._by_access else ANY_SUBMITTER
        cached = self._cached.get((lab, need, submitter))
        if cached is None or cached.lab_version != world.lab_version:
            fqdns = list(world.systems_of[lab]) if _in_lab(world, need, lab) else []
            cached = UsableSystems(
                lambda fqdn: self._usable_in(lab, need, submitter, fqdn), fqdns, world.lab_version
            )
            cached.changes = len(world.changed[lab])
            self._cached[lab, need, submitter] = cached
        cached.change(world.changed[lab])
        return cached

    def _usable_in(self, lab: str, need: RecipeNeed, submitter: Submitter, fqdn: str) -> bool:
        system = self._world.systems.get(fqdn)
        if system is None or system.lab != lab or not self.is_obtainable(need, system):
            return False
        return self.highest_priority(submitter, system) is not None

    def _refused(self, system: System) -> int:
        """Return the bitmap of the requirements that a system does not fulfil."""
        about = self._systems.get(system.fqdn)
        if about is None or about.described != system.described:
            about = SystemFacts(system.described, facts_of(self._world.document(system)))
            self._systems[system.fqdn] = about
        if about.requirements < len(self._world.interned.requirements):
            self._keep_up()
            about.refused = self._requirements_cache.refused(about.facts)
            about.requirements = self._requirements_cache.requirements
        return about.refused

    def _keep_up(self) -> None:
        for host_requires in self._world.interned.requirements[self._requirements_cache.requirements :]:
            self._requirements_cache.add(host_requires)


def accepts_recipes(world: FoldedWorld, need: RecipeNeed, system: System) -> bool:
    if system.draining or system.occupied or system.reserved or not world.enabled.get(system.lab, False):
        return False
    if system.condition == "Automated":
        return True
    return system.condition != "Removed" and need.requirements.forced == system.fqdn.casefold()


def _in_lab(world: FoldedWorld, need: RecipeNeed, lab: str) -> bool:
    return all(_has(world, distro, lab) for distro in need.distros)


def _has(world: FoldedWorld, distro: Distro | None, lab: str) -> bool:
    if distro is None or distro.tree_id is None:
        return distro is not None
    tree = world.trees.get(distro.tree_id)
    return tree is not None and bool(tree["urls"].get(lab))


def _installs(world: FoldedWorld, distro: Distro | None, system: System) -> bool:
    """Return whether a system has the architecture of a distro and does not exclude the distro."""
    if distro is None:
        return False
    arch, family, version = distro.arch, distro.family, distro.version
    if distro.tree_id is not None:
        tree = world.trees[distro.tree_id]
        arch, family, version = tree["arch"], tree["family"], tree["version"]
    excluded = system.inventory.get("excluded_families") or ()
    return arch in (system.inventory.get("arches") or ()) and not any(
        (row["arch"], row["family"]) == (arch, family) and row.get("version") in (None, version)
        for row in excluded
    )
