"""Candidate systems of recipes, and those that a recipe could have now (design sections 1 and 5.1).

Requirements are evaluated once for a system, and again when the system has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from replay.audit.answers import Answers
from replay.audit.facts import Facts, facts_of
from replay.audit.known import Known
from replay.audit.lines import Line, Need, Rank
from replay.audit.rights import ANYBODY, URGENT, Who
from replay.audit.values import Distro, Recipe, System
from replay.audit.world import World


@dataclass
class About:
    """The facts of one system at a position, with the refused ones of the first `requirements` (bitmap)."""

    described: int
    facts: Facts
    requirements: int = 0
    refused: int = 0


class Candidates:
    """The usable systems of one lab for one need, searched lazily.

    `furnished` is the count of lab changes at creation, `changes` the number of the lab's system changes that
    are applied.
    """

    def __init__(self, usable: Callable[[str], bool], asked: list[str], furnished: int) -> None:
        self.furnished = furnished
        self.changes = 0
        self._usable = usable
        self._left = iter(asked)
        self._found: list[str] = []

    def __iter__(self) -> Iterator[str]:
        """Iterate the systems; one may come twice. Several iterations may run at a time."""
        place = 0
        while True:
            while place < len(self._found):
                yield self._found[place]
                place += 1
            another = next(filter(self._usable, self._left), None)
            if another is None:
                return
            self._found.append(another)

    def change(self, changed: list[str]) -> None:
        """Apply the changes of systems since the last call."""
        for fqdn in dict.fromkeys(changed[self.changes :]):
            self._found = [other for other in self._found if other != fqdn]
            if self._usable(fqdn):
                self._found.append(fqdn)
        self.changes = len(changed)


class Judge:
    """Finds the systems that recipes may have, in the present state of one world.

    Without `by_access` every user may have every system at any priority, as before there were policies.
    Without `by_contact` silent labs get recipes like others.
    """

    def __init__(self, world: Known, by_access: bool = True, by_contact: bool = True) -> None:
        # Lab -> the state in which all its holders were last found to be completable.
        self.safe: dict[str, int] = {}
        self._world = world
        self._by_access = by_access
        self._by_contact = by_contact
        self._answers = Answers()
        self._systems: dict[str, About] = {}
        self._candidates: dict[tuple[str, Need, Who], Candidates] = {}

    def viable(self, need: Need, system: System) -> bool:
        """Return whether a recipe with this need could run there, busy or not, access aside."""
        if self._refused(system) >> need.wants.number & 1 or system.condition == "Removed":
            return False
        return _in_lab(self._world, need, system.lab) and _installs(self._world, need.wants.distro, system)

    def is_known(self, need: Need) -> bool:
        """Return whether the requirement can be read.

        If not, no system is usable, and no violation is reported.
        """
        self._keep_up()
        return not self._answers.unknown >> need.wants.number & 1

    def most_urgent(self, who: Who, system: System) -> int | None:
        """Return a submitter's highest effective priority on a system (0 is Urgent), None without access."""
        if not self._by_access:
            return URGENT
        return None if system.rights.is_lent_away(who) else system.rights.most(who)

    def is_lent_away(self, recipe: Recipe, system: System) -> bool:
        """Return whether a system is on loan to another user than the owner of a recipe."""
        return self._by_access and system.rights.is_lent_away(recipe.who)

    def may_submit(self, recipe: Recipe, system: System) -> bool:
        """Return whether a recipe's owner or group may submit to a system, loans aside."""
        who = self._world.party(recipe.who)
        return not self._by_access or system.rights.most(who) is not None

    def suits(self, need: Need, system: System) -> bool:
        """Return whether a system fits a need and recipes may have it, now or when it comes free, access
        aside.
        """
        if self._by_contact and system.lab in self._world.silent:
            return False
        return self.viable(need, system) and may_be_had(self._world, need, system)

    def is_right(self, recipe: Recipe, system: System) -> bool:
        """Return whether a system fits a recipe and recipes may have it, in the lab of its set if that has
        one.
        """
        lab_is_right = recipe.state != "assigned" or recipe.lab == system.lab
        return lab_is_right and self.suits(self._world.need(recipe), system)

    def could_take(self, recipe: Recipe, system: System) -> bool:
        """Return whether a system is usable for a recipe, in the lab of its set if that has one."""
        who = self._world.party(recipe.who)
        return self.is_right(recipe, system) and self.most_urgent(who, system) is not None

    def needs_in(self, line: Line, system: System, end: Rank) -> list[Need]:
        """Return the needs in a queue that a system suits, in order of their first recipes, up to the end."""
        open_to = line.needs(~self._refused(system), end)
        found = [need for need in open_to if self.suits(need, system)]
        return sorted(found, key=lambda need: line.of(need)[0])

    def candidates(self, recipe: Recipe, lab: str) -> Candidates:
        """Return the systems of a lab that are usable for a recipe."""
        world, need = self._world, self._world.need(recipe)
        who = world.party(recipe.who) if self._by_access else ANYBODY
        known = self._candidates.get((lab, need, who))
        if known is None or known.furnished != world.furnished:
            asked = list(world.systems_of[lab]) if _in_lab(world, need, lab) else []
            known = Candidates(lambda fqdn: self._usable_in(lab, need, who, fqdn), asked, world.furnished)
            known.changes = len(world.changed[lab])
            self._candidates[lab, need, who] = known
        known.change(world.changed[lab])
        return known

    def _usable_in(self, lab: str, need: Need, who: Who, fqdn: str) -> bool:
        system = self._world.systems.get(fqdn)
        if system is None or system.lab != lab or not self.suits(need, system):
            return False
        return self.most_urgent(who, system) is not None

    def _refused(self, system: System) -> int:
        """Return the bitmap of the requirements that a system does not fulfil."""
        about = self._systems.get(system.fqdn)
        if about is None or about.described != system.described:
            about = About(system.described, facts_of(self._world.document(system)))
            self._systems[system.fqdn] = about
        if about.requirements < len(self._world.requirements):
            self._keep_up()
            about.refused = self._answers.refused(about.facts)
            about.requirements = self._answers.requirements
        return about.refused

    def _keep_up(self) -> None:
        for host_requires in self._world.requirements[self._answers.requirements :]:
            self._answers.know(host_requires)


def may_be_had(world: World, need: Need, system: System) -> bool:
    if system.draining or system.reserved or not world.enabled.get(system.lab, False):
        return False
    if system.condition == "Automated":
        return True
    return system.condition != "Removed" and need.wants.forced == system.fqdn.casefold()


def _in_lab(world: World, need: Need, lab: str) -> bool:
    """Return whether the distros of a recipe and its guests are in the lab."""
    return all(_has(world, distro, lab) for distro in need.distros)


def _has(world: World, distro: Distro | None, lab: str) -> bool:
    if distro is None or distro.tree_id is None:
        return distro is not None
    tree = world.trees.get(distro.tree_id)
    return tree is not None and bool(tree["urls"].get(lab))


def _installs(world: World, distro: Distro | None, system: System) -> bool:
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
