"""Random histories from a seed, for larger labs with too many states; a failing history is shortened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from domain.scheduling.world.trigger_rules import TriggerRule
from domain.scheduling.world.wake_ups import TRIGGER_RULES
from tests.model_check import invariants as rest
from tests.model_check.actions import VERBS, Action, act, actions
from tests.model_check.case import CaseJob, LabCase, RecipeWant
from tests.model_check.explore import Exploration
from tests.model_check.model import ModelWorld
from tests.model_check.partitioned import world_of
from tests.model_check.steps import MANY, ModelViolation, commit_next, fail_on, restart, settle

# The relative frequency of verbs; all others have 1.
OFTEN: dict[str, float] = {
    "submit": 6,
    "complete": 4,
    "finish": 2,
    "repair": 3,
    "automate": 2,
    "undrain": 3,
    "vacate": 3,
    "change": 2,
    "enable": 3,
    "be heard": 3,
}
OFTEN |= {"tree arrives": 3, "give back": 3, "grow": 3, "join": 3, "remove": 0.3, "move": 0.5}

OFTEN |= {"open": 3, "open pool": 3, "end loan": 3, "join group": 3}

# Locks as in `RecipeWant`: capital letters are exclusive, * is the whole lab.
LOCKS = ("", "", "", "x", "X", "Y", "xY", "*")
MAXIMA = ("Low", "Medium", "High")

MOVES = 120


@dataclass(frozen=True)
class Move:
    """A move: an action ("do"), or the scheduler commits once ("commit"), commits during an action ("race"),
    commits until it has nothing left to answer ("settle"), or restarts ("restart").
    """

    kind: str
    action: Action | None = None
    limit: int = MANY


def random_case(chance: Random) -> LabCase:
    labs = chance.choice((1, 1, 2, 3))
    names = "abcdefgh"[: chance.randrange(3, 7)]
    conditions = ("Automated",) * 6 + ("Manual", "Broken", "Absent")
    systems = tuple(
        (name, f"lab-{number % labs + 1}", chance.choice(conditions)) for number, name in enumerate(names)
    )
    contended = chance.random() < 0.5
    jobs = tuple(_job(chance, names, number, contended) for number in range(chance.randrange(2, 6)))
    maxima = tuple((name, chance.choice(MAXIMA)) for name in names if chance.random() < 0.2)
    there = tuple(each for each in maxima if each[0] in _there(systems))
    bound = chance.choice((None, 1))
    if not contended:
        return LabCase(systems, jobs, there, bound)
    return LabCase(systems, jobs, there, bound, chance.choice((None, 1, 2)), chance.choice((None, 2, 3)))


def _there(systems: Sequence[tuple[str, str, str]]) -> list[str]:
    return [name for name, _, condition in systems if condition != "Absent"]


def _job(chance: Random, names: str, number: int, contended: bool) -> CaseJob:
    """Return a job; in a contended case it may declare locks, await an earlier job, and be in a bucket."""
    wants = tuple(_want(chance, names, contended) for _ in range(chance.choice((1, 2, 2, 2, 3, 3, 4))))
    priority, for_group = chance.choice(("Normal", "Normal", "Low", "High")), chance.random() < 0.3
    if not contended:
        return CaseJob(wants, priority, for_group)
    after = chance.choice((None,) * 4 + (*range(number),))
    return CaseJob(wants, priority, for_group, after, chance.choice((None, None, None, 1, 2)))


def _want(chance: Random, names: str, contended: bool) -> RecipeWant:
    locks = chance.choice(LOCKS) if contended else ""
    if chance.random() < 0.15:
        return RecipeWant((chance.choice(names),), force=True, locks=locks)
    chosen = chance.sample(names, min(len(names), chance.choice((1, 1, 2, 2, 3))))
    return RecipeWant(tuple(sorted(chosen)), needs=chance.choice(("",) * 6 + ("big", "pool")), locks=locks)


def walk(seed: int, rules: Sequence[TriggerRule] = TRIGGER_RULES) -> Exploration:
    """Explore one history; a violation comes with the shortest history found."""
    chance = Random(seed)
    case, found = random_case(chance), Exploration(labs=1)
    moves: list[Move] = []
    try:
        world = world_of(case, rules)
        for _ in range(MOVES):
            moves.append(_choose(chance, world))
            make(world, moves[-1])
        wind_up(world)
    except ModelViolation as violation:
        found.violation = shortest(case, moves, rules) or violation
    found.states = found.steps = len(moves)
    return found


def _choose(chance: Random, world: ModelWorld) -> Move:
    (kind,) = chance.choices(("do", "commit", "race", "settle", "restart"), (10, 3, 2, 6, 0.5))
    action = _action(chance, world) if kind in ("do", "race") else None
    return Move(kind, action, chance.choice((1, MANY)))


def _action(chance: Random, world: ModelWorld) -> Action | None:
    verbs = [verb for verb in VERBS if actions(world, [verb])]
    (verb,) = chance.choices(verbs, [OFTEN.get(verb, 1) for verb in verbs])
    return chance.choice(actions(world, [verb]))


def make(world: ModelWorld, move: Move) -> None:
    """Make a move, unless it is impossible now."""
    action = move.action
    if action is not None and action not in actions(world, [action.verb]):
        return
    if move.kind == "do" and action is not None:
        world.story += (str(action),)
        act(world, action)
        fail_on(rest.always(world), world)
    elif move.kind in ("commit", "race"):
        commit_next(world, move.limit, action)
    elif move.kind == "settle":
        settle(world, move.limit)
    elif move.kind == "restart":
        restart(world)


def wind_up(world: ModelWorld) -> None:
    """Finish running recipes until none runs; no set may wait for others then."""
    settle(world, MANY)
    while running := actions(world, ["finish"]):
        world.story += (str(running[0]),)
        act(world, running[0])
        settle(world, 1)


def shortest(case: LabCase, moves: Sequence[Move], rules: Sequence[TriggerRule]) -> ModelViolation | None:
    """Return the violation of a shortened history from which no move can be removed."""
    best, size = _violation(case, moves, rules), max(1, len(moves) // 2)
    while best is not None and size:
        for first in range(len(moves) - size, -1, -size):
            less = [*moves[:first], *moves[first + size :]]
            violation = _violation(case, less, rules)
            if violation is not None:
                best, moves = violation, less
        size //= 2
    return best


def retrace(case: LabCase, moves: Sequence[Move], rules: Sequence[TriggerRule]) -> Exploration:
    """Explore one given history."""
    return Exploration(1, len(moves), len(moves), _violation(case, moves, rules))


def _violation(case: LabCase, moves: Sequence[Move], rules: Sequence[TriggerRule]) -> ModelViolation | None:
    world = world_of(case, rules)
    try:
        for move in moves:
            make(world, move)
        wind_up(world)
    except ModelViolation as violation:
        return violation
    return None
