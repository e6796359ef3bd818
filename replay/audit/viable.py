"""Which systems could run a recipe, and which of them it could have now (design sections 1 and 5.1).

What a requirement says of a system is asked once, and again when what the system is has changed.
"""

from __future__ import annotations

import json
from collections.abc import Set
from dataclasses import dataclass, field

from replay.audit.facts import Facts, facts_of
from replay.audit.known import Known
from replay.audit.leaves import Ask
from replay.audit.lines import Need
from replay.audit.requirement import question
from replay.audit.values import Distro, Recipe, System

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

    def viable(self, need: Need, system: System) -> bool:
        """Whether a recipe could run there, busy or not."""
        if system.condition == "Removed" or not self._holds(need.wants.host_requires, system):
            return False
        distros = need.wants.distro, *need.guests
        return all(self._in_lab(distro, system.lab) for distro in distros) and self._installs(
            need.wants.distro, system
        )

    def usable(self, need: Need, system: System) -> bool:
        """Viable, and nobody's but a recipe's, now or when it comes free."""
        return may_be_had(self._world, need, system) and self.viable(need, system)

    def could_take(self, recipe: Recipe, system: System) -> bool:
        """Usable, and in the lab of its set if that has one."""
        lab_is_right = recipe.state != "assigned" or recipe.lab == system.lab
        return lab_is_right and self.usable(self._world.need(recipe), system)

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
            if system.lab == lab and self.usable(need, system):
                known.usable.add(fqdn)
            else:
                known.usable.discard(fqdn)
        return known.usable

    # What makes it viable

    def _holds(self, host_requires: str, system: System) -> bool:
        answers = self._answers.get(system.fqdn)
        if answers is None or answers.described != system.described:
            answers = Answers(system.described, facts_of(self._world.document(system)))
            self._answers[system.fqdn] = answers
        requirement = self._requirements.get(host_requires) or self._read(host_requires)
        said, number = answers.said, requirement.number
        if number >= len(said):
            said.extend(bytes(len(self._requirements) - len(said)))
        if said[number] == NOT_ASKED:
            said[number] = YES if requirement.ask(answers.facts) is True else NO
        return said[number] == YES

    def _read(self, host_requires: str) -> Requirement:
        ask = question(json.loads(host_requires))
        requirement = Requirement(len(self._requirements), ask)
        self._requirements[host_requires] = requirement
        return requirement

    def _in_lab(self, distro: Distro | None, lab: str) -> bool:
        """A distro of one's own is everywhere."""
        if distro is None or distro.tree_id is None:
            return distro is not None
        tree = self._world.trees.get(distro.tree_id)
        return tree is not None and bool(tree["urls"].get(lab))

    def _installs(self, distro: Distro | None, system: System) -> bool:
        """Neither its architectures nor its exclusions stand against it."""
        if distro is None:
            return False
        arch, family, version = distro.arch, distro.family, distro.version
        if distro.tree_id is not None:
            tree = self._world.trees[distro.tree_id]
            arch, family, version = tree["arch"], tree["family"], tree["version"]
        excluded = system.inventory.get("excluded_families") or ()
        return arch in (system.inventory.get("arches") or ()) and not any(
            (row["arch"], row["family"]) == (arch, family) and row.get("version") in (None, version)
            for row in excluded
        )


def may_be_had(world: Known, need: Need, system: System) -> bool:
    if system.draining or system.reserved or not world.enabled.get(system.lab, False):
        return False
    if system.condition == "Automated":
        return True
    return system.condition != "Removed" and need.wants.forced == system.fqdn.casefold()
