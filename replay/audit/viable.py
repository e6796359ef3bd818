"""Which systems could run a recipe, and which of them it could have now (design sections 1 and 5.1).

What a requirement says of a system is asked once, and again when what the system is has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from replay.audit.answers import Answers
from replay.audit.facts import Facts, facts_of
from replay.audit.known import Known
from replay.audit.lines import Line, Need, Rank
from replay.audit.values import Distro, Recipe, System
from replay.audit.world import World


@dataclass
class About:
    """One system, as it was described at that position, and which of so many requirements it does not fulfil
    (bitmap).
    """

    described: int
    facts: Facts
    requirements: int = 0
    refused: int = 0


class Candidates:
    """The usable systems of one lab for one need, looked for only as far as somebody asks.

    `furnished` is what counted when it was made, `changes` how many of the lab's changes it knows.
    """

    def __init__(self, usable: Callable[[str], bool], asked: list[str], furnished: int) -> None:
        self.furnished = furnished
        self.changes = 0
        self._usable = usable
        self._left = iter(asked)
        self._found: list[str] = []

    def __iter__(self) -> Iterator[str]:
        """One may come twice. Several may go through them at a time."""
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
        """Systems have changed, the last of these after it was made or changed before."""
        for fqdn in dict.fromkeys(changed[self.changes :]):
            self._found = [other for other in self._found if other != fqdn]
            if self._usable(fqdn):
                self._found.append(fqdn)
        self.changes = len(changed)


class Judge:
    """Of one world, as it is when asked."""

    def __init__(self, world: Known) -> None:
        # By lab the state in which it was last found that all its holders can be completed.
        self.safe: dict[str, int] = {}
        self._world = world
        self._answers = Answers()
        self._systems: dict[str, About] = {}
        self._candidates: dict[tuple[str, Need], Candidates] = {}

    def viable(self, need: Need, system: System) -> bool:
        """Whether a recipe could run there, busy or not."""
        if self._refused(system) >> need.wants.number & 1 or system.condition == "Removed":
            return False
        return _in_lab(self._world, need, system.lab) and _installs(self._world, need.wants.distro, system)

    def is_known(self, need: Need) -> bool:
        """Whether it can be said what it wants; if not nothing is usable, and nobody is to be blamed."""
        self._keep_up()
        return not self._answers.unknown >> need.wants.number & 1

    def usable(self, need: Need, system: System) -> bool:
        """Viable, and nobody's but a recipe's, now or when it comes free."""
        return self.viable(need, system) and may_be_had(self._world, need, system)

    def could_take(self, recipe: Recipe, system: System) -> bool:
        """Usable, and in the lab of its set if that has one."""
        lab_is_right = recipe.state != "assigned" or recipe.lab == system.lab
        return lab_is_right and self.usable(self._world.need(recipe), system)

    def needs_in(self, line: Line, system: System, end: Rank) -> list[Need]:
        """Those of a line for which a system is usable, in the order of their first recipes, to the end."""
        open_to = line.needs(~self._refused(system), end)
        found = [need for need in open_to if self.usable(need, system)]
        return sorted(found, key=lambda need: line.of(need)[0])

    def candidates(self, recipe: Recipe, lab: str) -> Candidates:
        """The systems of a lab that are usable for it."""
        world, need = self._world, self._world.need(recipe)
        known = self._candidates.get((lab, need))
        if known is None or known.furnished != world.furnished:
            asked = list(world.systems_of[lab]) if _in_lab(world, need, lab) else []
            known = Candidates(lambda fqdn: self._usable_in(lab, need, fqdn), asked, world.furnished)
            known.changes = len(world.changed[lab])
            self._candidates[lab, need] = known
        known.change(world.changed[lab])
        return known

    def _usable_in(self, lab: str, need: Need, fqdn: str) -> bool:
        system = self._world.systems.get(fqdn)
        return system is not None and system.lab == lab and self.usable(need, system)

    def _refused(self, system: System) -> int:
        """The requirements that it does not fulfil, as a bitmap."""
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
    """What it and its guests install is in the lab; a distro of one's own is everywhere."""
    return all(_has(world, distro, lab) for distro in need.distros)


def _has(world: World, distro: Distro | None, lab: str) -> bool:
    if distro is None or distro.tree_id is None:
        return distro is not None
    tree = world.trees.get(distro.tree_id)
    return tree is not None and bool(tree["urls"].get(lab))


def _installs(world: World, distro: Distro | None, system: System) -> bool:
    """Neither its architectures nor its exclusions stand against it."""
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
