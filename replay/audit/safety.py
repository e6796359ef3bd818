"""Safety of grants: whether every set that holds some systems can still get the rest (design 4.3).

Found by plain search.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from replay.audit.known import Known
from replay.audit.tables import STARTED, UNPLACED
from replay.audit.values import Recipe, System
from replay.audit.viable import Judge
from replay.audit.world import World


def wanting(world: World, number: int) -> list[Recipe]:
    """Return the recipes of a set that have no system."""
    return [host for host in world.hosts(number) if host.state in UNPLACED]


def stuck(world: Known, judge: Judge, lab: str) -> list[int]:
    """Return the holders of a lab that remain after every holder that can be completed has finished.

    Completing a holder never harms another, since its systems come free, so any order finds the same ones.
    Labs share no systems, so a holder stuck in one lab does not make a grant in another unsafe.
    """
    holders = ((number, wanting(world, number)) for number in sorted(world.holding[lab]))
    left = {number: rest for number, rest in holders if rest and _are_readable(world, judge, rest)}
    while left:
        held = {host.system for number in left for host in world.hosts(number) if host.state == "scheduled"}
        done = [number for number, rest in left.items() if matched(judge, rest, lab, held)]
        if not done:
            break
        for number in done:
            del left[number]
    return list(left)


def _are_readable(world: Known, judge: Judge, hosts: list[Recipe]) -> bool:
    return all(judge.is_known(world.need(host)) for host in hosts)


def matched(judge: Judge, hosts: list[Recipe], lab: str, held: Set[str | None]) -> bool:
    """Return whether each host can have a usable system of its own that is not held."""
    choices = {host.recipe_id: judge.candidates(host, lab) for host in hosts}
    taken: dict[str, int] = {}
    return all(_place(number, choices, taken, set(), held) for number in choices)


def _place(
    number: int,
    choices: Mapping[int, Iterable[str]],
    taken: dict[str, int],
    tried: set[str],
    held: Set[str | None],
) -> bool:
    """Give a host a system; move other hosts to other systems where that helps."""
    for fqdn in choices[number]:
        if fqdn in tried or fqdn in held:
            continue
        tried.add(fqdn)
        if fqdn not in taken or _place(taken[fqdn], choices, taken, tried, held):
            taken[fqdn] = number
            return True
    return False


def placeable(world: Known, judge: Judge, number: int) -> list[str]:
    """Return the labs in which a set could be placed if no other set held a system there."""
    hosts = world.hosts(number)
    own = {host.system for host in hosts}
    bound = {host.lab for host in hosts if host.lab is not None}
    labs = sorted(bound or world.systems_of)
    return [lab for lab in labs if matched(judge, wanting(world, number), lab, own)]


def is_safe(world: Known, judge: Judge, lab: str) -> bool:
    """Return whether every holder of a lab can be completed.

    The result is cached for each state of the lab.
    """
    state = world.states.get(lab, 0)
    if judge.safe.get(lab) != state:
        if stuck(world, judge, lab):
            return False
        judge.safe[lab] = state
    return True


def could_take_safely(world: Known, judge: Judge, recipe: Recipe, system: System) -> bool:
    """Return whether a recipe could take a system so that every holder can still be completed."""
    lab = system.lab
    if not judge.could_take(recipe, system):
        return False
    rest = [host for host in wanting(world, recipe.set_id) if host.recipe_id != recipe.recipe_id]
    if not rest:
        # The last recipe of its set: the set starts, and its systems come free.
        return True
    if not matched(judge, rest, lab, {system.fqdn}):
        return False
    if is_safe(world, judge, lab) and matched(judge, rest, lab, {*world.held[lab], system.fqdn}):
        # It can be completed before all others, and then the state is as safe as before.
        return True
    with world.supposing():
        _grant(world, recipe, system)
        return not stuck(world, judge, lab)


def _grant(world: Known, recipe: Recipe, system: System) -> None:
    """Place this recipe on this system, and bind its siblings to the lab."""
    for member in world.members(recipe.set_id):
        if member.recipe_id == recipe.recipe_id:
            world.put_recipe(member.moved("scheduled", system.fqdn, system.lab))
        elif member.state in UNPLACED:
            world.put_recipe(member.moved("assigned", None, system.lab))


def waiting_sets(world: World) -> list[int]:
    """Return the sets that are not completely placed."""
    unfinished = {recipe.set_id for recipe in world.recipes.values()}
    return [number for number in sorted(unfinished) if wanting(world, number)]


def anything_runs(world: World) -> bool:
    return any(recipe.state in STARTED for recipe in world.recipes.values())
