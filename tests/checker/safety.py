"""Whether every set that holds some of its systems can still get the rest (design 4.3), by plain search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tests.checker.tables import STARTED, UNPLACED
from tests.checker.values import Recipe, System
from tests.checker.viable import Judge
from tests.checker.world import World


def holders(world: World, lab: str) -> list[int]:
    """The sets with some but not all of their systems, which are in this lab."""
    placed = (
        world.recipes[number]
        for fqdn, on in world.on.items()
        if fqdn in world.systems and world.systems[fqdn].lab == lab
        for number in on
    )
    some = {recipe.set_id for recipe in placed if recipe.state == "scheduled"}
    return [number for number in sorted(some) if wants_more(world, number)]


def wants_more(world: World, number: int) -> bool:
    return any(host.state in UNPLACED for host in world.hosts(number))


def stuck(world: World, judge: Judge, lab: str) -> list[int]:
    """The holders of a lab that are left when every holder that can be completed is, and has finished.

    To complete one never harms another, since all that it holds comes free: any order finds the same ones.
    Labs share no systems, so what is stuck in one does not make a grant in another unsafe.
    """
    left = holders(world, lab)
    while done := [number for number in left if _can_be_completed(world, judge, number, left, lab)]:
        left = [number for number in left if number not in done]
    return left


def _can_be_completed(world: World, judge: Judge, number: int, left: list[int], lab: str) -> bool:
    hosts = world.hosts(number)
    held = {host.system for other in left for host in world.hosts(other) if host.state == "scheduled"}
    free = [system for system in world.systems.values() if system.lab == lab and system.fqdn not in held]
    return matched(world, judge, [host for host in hosts if host.state in UNPLACED], free)


def matched(world: World, judge: Judge, hosts: list[Recipe], systems: list[System]) -> bool:
    """Whether each host can have a usable system of its own."""
    choices = {
        host.recipe_id: [system.fqdn for system in systems if judge.usable(world, host, system)]
        for host in hosts
    }
    taken: dict[str, int] = {}
    return all(_place(number, choices, taken, set()) for number in choices)


def _place(number: int, choices: Mapping[int, list[str]], taken: dict[str, int], tried: set[str]) -> bool:
    """Give a host a system, moving others on where that helps."""
    for fqdn in choices[number]:
        if fqdn in tried:
            continue
        tried.add(fqdn)
        if fqdn not in taken or _place(taken[fqdn], choices, taken, tried):
            taken[fqdn] = number
            return True
    return False


def placeable(world: World, judge: Judge, number: int) -> list[str]:
    """The labs in which a set could be placed if nobody else had any system there."""
    hosts = world.hosts(number)
    wanting = [host for host in hosts if host.state in UNPLACED]
    own = {host.system for host in hosts}
    bound = {host.lab for host in hosts if host.lab is not None}
    labs = sorted(bound or {system.lab for system in world.systems.values()})
    return [
        lab
        for lab in labs
        if matched(
            world, judge, wanting, [s for s in world.systems.values() if s.lab == lab and s.fqdn not in own]
        )
    ]


def suppose_granted(world: World, recipe: Recipe, system: System) -> World:
    """The world in which this recipe has this system and its siblings are bound to the lab."""
    supposed = world.copy()
    for member in world.members(recipe.set_id):
        if member.recipe_id == recipe.recipe_id:
            supposed.put(replace(member, state="scheduled", system=system.fqdn, lab=system.lab))
        elif member.state in UNPLACED:
            supposed.put(replace(member, state="assigned", lab=system.lab))
    return supposed


def completes(world: World, recipe: Recipe) -> bool:
    """Whether this is the last recipe of its set that wants a system."""
    wanting = [host for host in world.hosts(recipe.set_id) if host.state in UNPLACED]
    return [host.recipe_id for host in wanting] == [recipe.recipe_id]


def could_take_safely(world: World, judge: Judge, recipe: Recipe, system: System) -> bool:
    """Usable for it, and no grant that could leave somebody without an end."""
    if not judge.could_take(world, recipe, system):
        return False
    return completes(world, recipe) or not stuck(suppose_granted(world, recipe, system), judge, system.lab)


def waiting_sets(world: World) -> list[int]:
    """The sets that are not completely placed."""
    unfinished = {recipe.set_id for recipe in world.recipes.values()}
    return [number for number in sorted(unfinished) if wants_more(world, number)]


def anything_runs(world: World) -> bool:
    return any(recipe.state in STARTED for recipe in world.recipes.values())
