"""The actions of people and labs in a state, by the production commands: one row for each verb."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from domain.contention.locks import NO_LOCKS
from domain.errors import Refused
from domain.system.state import System
from domain.system_admin.reservation import reserve
from tests.domain.scheduling.policies import everybody, group
from tests.model_check.case import BIG_MB, GROUP, POOL, SUBMITTER
from tests.model_check.model import ModelWorld, waits_for_systems
from tests.model_check.partitioned import lab_moves


class Action(NamedTuple):
    verb: str
    what: Any

    def __str__(self) -> str:
        what = self.what if isinstance(self.what, tuple) else (self.what,)
        return " ".join([self.verb, *map(str, what)])


class Verb(NamedTuple):
    """A kind of action: `choices` returns the possible targets, `do` runs it on one target in one commit."""

    choices: Callable[[ModelWorld], Iterable[Any]]
    do: Callable[[ModelWorld, Any], None]


def actions(world: ModelWorld, verbs: Iterable[str]) -> list[Action]:
    return [Action(verb, what) for verb in verbs for what in VERBS[verb].choices(world)]


def act(world: ModelWorld, action: Action) -> None:
    VERBS[action.verb].do(world, action.what)


def _jobs(world: ModelWorld, there: bool) -> Iterator[int]:
    return (number for number in range(len(world.case.jobs)) if bool(world.recipes_of(number)) == there)


def _submittable(world: ModelWorld) -> Iterator[int]:
    """Yield the jobs that are not there, without those whose dependency was never submitted."""
    for number in _jobs(world, there=False):
        if world.case.jobs[number].after in (None, *world.sets_of):
            yield number


def _started(world: ModelWorld) -> Iterator[tuple[int, int]]:
    """Yield the job and index of each running recipe."""
    for number in _jobs(world, there=True):
        for place, recipe in enumerate(world.recipes_of(number)):
            if recipe.started:
                yield number, place


def _with_locks(world: ModelWorld) -> Iterator[tuple[int, int]]:
    """Yield the job and index of each started recipe that holds locks."""
    return (what for what in _started(world) if world.recipes[_recipe_id(world, what)].held != NO_LOCKS)


def _recipe_id(world: ModelWorld, what: tuple[int, int]) -> int:
    number, place = what
    return world.recipes_of(number)[place].recipe_id


def _unstarted(world: ModelWorld, priority: str) -> Iterator[int]:
    for number in _jobs(world, there=True):
        recipes = world.recipes_of(number)
        changes = world.sets[recipes[0].recipe_set_id].priority.name != priority
        if changes and not world.members(recipes[0].recipe_id).started:
            yield number


def _changes(world: ModelWorld) -> Iterator[tuple[int, int, str]]:
    """Yield the job and index of each recipe of a set that has not started, and another system to want."""
    for number in _jobs(world, there=True):
        for place, recipe in enumerate(world.recipes_of(number)):
            want = world.wants[recipe.recipe_id]
            for name in world.systems_here if not world.members(recipe.recipe_id).started else ():
                if want.names != (name,):
                    yield number, place, name


def _ticks(world: ModelWorld) -> list[int]:
    """Return one tick while it makes a waiting set lighter."""
    if world.case.coefficient is None:
        return []
    waiting = (
        job for number in _jobs(world, there=True) if waits_for_systems(job := world.recipes_of(number))
    )
    return [1] if any(world.age(job[0].recipe_set_id) < world.coefficient for job in waiting) else []


def _systems(*conditions: str) -> Callable[[ModelWorld], list[str]]:
    return lambda world: [name for name, system in world.systems.items() if system.condition in conditions]


def _provisioned(world: ModelWorld) -> Iterator[tuple[int, int]]:
    """Yield the job and index of each recipe whose tasks have not begun."""
    for number, place in _started(world):
        if world.recipes_of(number)[place].state == "waiting":
            yield number, place


def _such(test: Callable[[System], bool]) -> Callable[[ModelWorld], list[str]]:
    return lambda world: [name for name, system in world.systems.items() if test(system)]


def _into(condition: str) -> Callable[[ModelWorld, str], None]:
    return lambda world, name: world.set_condition(name, condition)


def _may_reserve(system: System) -> bool:
    try:
        reserve(system, "ada", None, None)
    except Refused:
        return False
    return True


def _moves(world: ModelWorld) -> list[tuple[str, str]]:
    return [
        (system.fqdn, lab)
        for system in world.systems.values()
        for lab in world.case.labs
        if system.recipe_id is None and system.reservation is None and lab != system.lab_controller
    ]


def _absent(world: ModelWorld) -> list[tuple[str, str]]:
    return [(name, lab) for name, lab, _ in world.case.systems if name not in world.systems]


def _in_pool(member: bool) -> Callable[[ModelWorld], list[str]]:
    return lambda world: [name for name in world.systems if world.directory.pool_has(POOL, name) == member]


def _open_to_all(world: ModelWorld, name: str) -> bool:
    return all("group" not in entry for entry in world.entries.get(name, ()))


def _opened(is_open: bool) -> Callable[[ModelWorld], list[str]]:
    """Return the systems whose own policy is open or closed; systems with maxima are not changed."""
    return lambda world: [
        name
        for name in world.systems
        if name not in dict(world.case.maxima) and _open_to_all(world, name) == is_open
    ]


def _pool_opened(is_open: bool) -> Callable[[ModelWorld], list[str]]:
    return lambda world: [POOL] if _open_to_all(world, POOL) == is_open else []


def _lent(is_lent: bool) -> Callable[[ModelWorld], list[str]]:
    return lambda world: [name for name in world.systems if (name in world.borrowers) == is_lent]


def _labs(enabled: bool) -> Callable[[ModelWorld], list[str]]:
    return lambda world: [lab for lab in world.case.labs if world.directory.is_enabled(lab) == enabled]


def _heard(is_heard: bool) -> Callable[[ModelWorld], list[str]]:
    return lambda world: [lab for lab in world.case.labs if world.directory.is_silent(lab) != is_heard]


def tree_labs(world: ModelWorld) -> list[str]:
    return [lab for _, tree in world.directory.trees() for lab in tree["urls"]]


def _tree(there: bool) -> Callable[[ModelWorld], list[str]]:
    return lambda world: [lab for lab in world.case.labs if (lab in tree_labs(world)) == there]


def _tree_moves(world: ModelWorld, lab: str) -> None:
    world.put_tree(
        1, "x86_64", [each for each in world.case.labs if (each in tree_labs(world)) != (each == lab)]
    )


VERBS: dict[str, Verb] = {
    "submit": Verb(_submittable, lambda world, number: world.submit_job(number)),
    # The lab controller aborts the recipe: for the scheduler all ends are equivalent.
    "finish": Verb(_started, lambda world, what: world.abort(_recipe_id(world, what))),
    "run": Verb(_provisioned, lambda world, what: world.run(_recipe_id(world, what))),
    "preempt": Verb(
        lambda world: [None] if world.case.shares and not world.partition.triggers else [],
        lambda world, _: world.preempt(),
    ),
    # With all earlier reports.
    "complete": Verb(_started, lambda world, what: world.complete(_recipe_id(world, what))),
    "cancel": Verb(
        lambda world: _jobs(world, there=True),
        lambda world, number: world.cancel(_recipe_id(world, (number, 0))),
    ),
    "add": Verb(_absent, lambda world, what: world.add_system(*what)),
    "break": Verb(_systems("Automated", "Manual"), _into("Broken")),
    "repair": Verb(_systems("Broken"), _into("Automated")),
    "make manual": Verb(_systems("Automated", "Broken", "Removed"), _into("Manual")),
    "automate": Verb(_systems("Manual", "Removed"), _into("Automated")),
    "remove": Verb(_systems("Automated", "Manual", "Broken"), _into("Removed")),
    "drain": Verb(_such(lambda system: not system.draining), ModelWorld.drain),
    "undrain": Verb(_such(lambda system: system.draining), ModelWorld.undrain),
    "occupy": Verb(_such(lambda system: system.occupied is None), ModelWorld.tell_running),
    "vacate": Verb(_such(lambda system: system.occupied is not None), ModelWorld.tell_vacant),
    "reserve": Verb(_such(_may_reserve), ModelWorld.reserve),
    "give back": Verb(_such(lambda system: system.reservation is not None), ModelWorld.give_back),
    "disable": Verb(_labs(enabled=True), lambda world, lab: world.enable(lab, False)),
    "enable": Verb(_labs(enabled=False), lambda world, lab: world.enable(lab, True)),
    "fall silent": Verb(_heard(True), ModelWorld.fall_silent),
    "be heard": Verb(_heard(False), ModelWorld.hear),
    "move": Verb(_moves, lambda world, what: world.move(*what)),
    "move lab": Verb(lab_moves, lambda world, what: world.move_lab(*what)),
    "shrink": Verb(
        _such(lambda system: system.inventory["memory_mb"] >= BIG_MB),
        lambda world, name: world.describe(name, memory_mb=1),
    ),
    "grow": Verb(
        _such(lambda system: system.inventory["memory_mb"] < BIG_MB),
        lambda world, name: world.describe(name, memory_mb=BIG_MB),
    ),
    "join": Verb(_in_pool(False), lambda world, name: world.set_pool(POOL, name, True)),
    "leave": Verb(_in_pool(True), lambda world, name: world.set_pool(POOL, name, False)),
    "tree arrives": Verb(_tree(there=False), _tree_moves),
    "tree leaves": Verb(_tree(there=True), _tree_moves),
    "close": Verb(_opened(True), lambda world, name: world.open_system(name, group(GROUP))),
    "open": Verb(_opened(False), lambda world, name: world.open_system(name, everybody())),
    "close pool": Verb(_pool_opened(True), lambda world, pool: world.open_pool(pool, group(GROUP))),
    "open pool": Verb(_pool_opened(False), lambda world, pool: world.open_pool(pool, everybody())),
    "lend away": Verb(_lent(False), lambda world, name: world.lend(name, "bob")),
    "lend": Verb(_lent(False), lambda world, name: world.lend(name, SUBMITTER)),
    "end loan": Verb(_lent(True), ModelWorld.end_loan),
    "give": Verb(
        _such(lambda system: system.owner != SUBMITTER), lambda world, name: world.own(name, SUBMITTER)
    ),
    "take": Verb(_such(lambda system: system.owner == SUBMITTER), lambda world, name: world.own(name, "ada")),
    "leave group": Verb(
        lambda world: [GROUP] if world.is_in_group else [], lambda world, name: world.put_group(name)
    ),
    "join group": Verb(
        lambda world: [] if world.is_in_group else [GROUP],
        lambda world, name: world.put_group(name, SUBMITTER),
    ),
    "pause": Verb(lambda world: [] if world.is_paused else [GROUP], ModelWorld.pause),
    "resume": Verb(lambda world: [GROUP] if world.is_paused else [], ModelWorld.resume),
    # The lab controller gives up all locks.
    "narrow": Verb(_with_locks, lambda world, what: world.narrow(_recipe_id(world, what), {})),
    "limit": Verb(
        lambda world: [world.case.max_placed or 1] if world.max_placed is None else [], ModelWorld.limit
    ),
    "unlimit": Verb(
        lambda world: [] if world.max_placed is None else [None], lambda world, _: world.limit(None)
    ),
    # A person changes a waiting recipe: it wants this system only.
    "change": Verb(_changes, lambda world, what: world.want(_recipe_id(world, what[:2]), what[2])),
    "tick": Verb(_ticks, ModelWorld.tick),
    "raise": Verb(
        lambda world: _unstarted(world, "Urgent"),
        lambda world, number: world.change_priority(_recipe_id(world, (number, 0)), "Urgent"),
    ),
    "lower": Verb(
        lambda world: _unstarted(world, "Low"),
        lambda world, number: world.change_priority(_recipe_id(world, (number, 0)), "Low"),
    ),
}
