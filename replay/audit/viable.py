"""Which systems could run a recipe, and which of them it could have now (design sections 1 and 5.1).

What a requirement says of a system is asked once, and again when what the system is has changed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Set
from dataclasses import dataclass, field

from replay.audit.facts import Facts, facts_of
from replay.audit.known import Known
from replay.audit.leaves import Ask
from replay.audit.lines import Need
from replay.audit.requirement import question
from replay.audit.values import Distro, Recipe, System
from replay.audit.world import World

NOT_ASKED, YES, NO = 0, 1, 2


@dataclass(frozen=True)
class Requirement:
    """`number` is where its answers stand."""

    number: int
    ask: Ask


@dataclass
class Answers:
    """About one system, as it was described at that position; `said` by the numbers of requirements."""

    described: int
    facts: Facts
    said: bytearray = field(default_factory=bytearray)

    def to(self, requirement: Requirement) -> bool:
        number, said = requirement.number, self.said
        if number >= len(said):
            said.extend(bytes(number + 1 - len(said)))
        if said[number] == NOT_ASKED:
            said[number] = YES if requirement.ask(self.facts) is True else NO
        return said[number] == YES


@dataclass
class Candidates:
    """The usable systems of one lab for one need, up to date with so many of the lab's changes."""

    furnished: int
    changes: int
    usable: set[str]


class Judge:
    """Of one world, as it is when asked."""

    def __init__(self, world: Known) -> None:
        self._world = world
        self._requirements: dict[str, Requirement] = {}
        self._answers: dict[str, Answers] = {}
        self._candidates: dict[tuple[str, Need], Candidates] = {}

    def usable_on(self, system: System) -> Callable[[Need], bool]:
        """For whom a system is usable: viable, and nobody's but a recipe's, now or when it comes free."""
        world, fqdn = self._world, system.fqdn.casefold()
        if system.draining or system.reserved or not world.enabled.get(system.lab, False):
            return _never
        if system.condition == "Automated":
            return self.viable_on(system)
        viable = self.viable_on(system)
        return lambda need: need.wants.forced == fqdn and viable(need)

    def viable_on(self, system: System) -> Callable[[Need], bool]:
        """Who could run there, busy or not."""
        if system.condition == "Removed":
            return _never
        answers, requirements, world = self._about(system), self._requirements, self._world

        def viable(need: Need) -> bool:
            wants = need.wants
            requirement = requirements.get(wants.host_requires) or self._read(wants.host_requires)
            said = answers.to(requirement)
            return (
                said
                and all(_in_lab(world, distro, system.lab) for distro in (wants.distro, *need.guests))
                and _installs(world, wants.distro, system)
            )

        return viable

    def could_take(self, recipe: Recipe, system: System) -> bool:
        """Usable, and in the lab of its set if that has one."""
        lab_is_right = recipe.state != "assigned" or recipe.lab == system.lab
        return lab_is_right and self.usable_on(system)(self._world.need(recipe))

    def candidates(self, recipe: Recipe, lab: str) -> Set[str]:
        """The systems of a lab that are usable for it."""
        world, need = self._world, self._world.need(recipe)
        known = self._candidates.get((lab, need))
        if known is None or known.furnished != world.furnished:
            known = self._candidates[lab, need] = Candidates(world.furnished, 0, set())
            asked = list(world.systems_of[lab])
        else:
            asked = world.changed[lab][known.changes :]
        known.changes = len(world.changed[lab])
        for fqdn in asked:
            system = world.systems[fqdn]
            if system.lab == lab and self.usable_on(system)(need):
                known.usable.add(fqdn)
            else:
                known.usable.discard(fqdn)
        return known.usable

    def _about(self, system: System) -> Answers:
        answers = self._answers.get(system.fqdn)
        if answers is None or answers.described != system.described:
            answers = Answers(system.described, facts_of(self._world.document(system)))
            self._answers[system.fqdn] = answers
        return answers

    def _read(self, host_requires: str) -> Requirement:
        ask = question(json.loads(host_requires))
        requirement = Requirement(len(self._requirements), ask)
        self._requirements[host_requires] = requirement
        return requirement


def _never(_: Need) -> bool:
    return False


def _in_lab(world: World, distro: Distro | None, lab: str) -> bool:
    """A distro of one's own is everywhere."""
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
