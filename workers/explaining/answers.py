"""The answers of the explaining process of a partition, as values for JSON."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from datetime import datetime
from itertools import chain, islice, pairwise
from typing import Any, Final

from domain.errors import Unknown, display_name
from domain.events import Moment, Recorded
from domain.recipe.events import RecipeLocked, RecipeQueued, RecipeScheduled, RecipeWaiting
from domain.recipe.lifecycle import UNPLACED
from domain.recipe.state import Recipe, evolve
from domain.recipe_set.events import RecipeSetPriorityChanged, RecipeSetSubmitted
from domain.scheduling.decisions.decide import decides_alike
from domain.scheduling.explaining.granted import why_granted
from domain.scheduling.explaining.held_back import set_held_back_by
from domain.scheduling.explaining.lock_waits import (
    lock_summary,
    lock_wait,
    wanted_locks,
    why_in_the_way,
)
from domain.scheduling.explaining.places import places_on
from domain.scheduling.explaining.shown_weights import weight_of, weight_of_set
from domain.scheduling.explaining.waiting import WaitingOptions, why_it_waits
from domain.scheduling.world.partition import Partition
from replay.verify.recorded_decisions import DecidedCommit
from workers.explaining.current_reasons import reason_counts, reasons
from workers.explaining.follower import Follower
from workers.explaining.matches import job_matches, matches
from workers.explaining.rules import configuration, job_filter

NEVER_PLACED: Final = "it never had a system"
OTHER_RULES: Final = "the decision was made by rules of another version, and cannot be recomputed"
NOT_SHOWN: Final = "the grant is explained to people who may view the system"
PREEMPTED_OTHERS: Final = "its queue had fewer systems than it is guaranteed, so its set preempted others"
PREEMPTION: Final = "timer/preemption/"
NOT_RECOMPUTED: Final = "the recomputed decision differs: run `labledger replay verify` for details"


def recipe(
    follower: Follower,
    recipe_id: int,
    at: int | None,
    now: str,
    limit: int,
    system: str | None,
    hidden: list[str],
    unknown: list[str],
) -> dict[str, Any]:
    """Return why a recipe waits, or why it got its system: as of a position, or of the end of the log.

    A waiting recipe is weighed at `now`, a grant at the time of its decision. `hidden` systems are not shown,
    and the `unknown` ones among them are not counted, either. A guest is explained by its host. Raises
    Unknown if there is no such recipe, or no such `system`.
    """
    position = follower.end() if at is None else at
    past = follower.past(f"recipe/{recipe_id}", position)
    state = _folded_recipe(recipe_id, past)
    if state.host_recipe_id is not None:
        host = recipe(follower, state.host_recipe_id, at, now, limit, system, hidden, unknown)
        return {**host, "recipe_id": recipe_id, "host_recipe_id": state.host_recipe_id}
    moment = datetime.fromisoformat(now)
    options = WaitingOptions(limit, system, frozenset(hidden), frozenset(unknown), moment)
    if state.state in UNPLACED:
        partition = follower.at(position, is_end=at is None)
        explained = _explain_waiting(follower, partition, recipe_id, options)
        summary = "; ".join((*_preempted_by(past), explained["summary"]))
        return {**_description(state, position), **explained, "summary": summary}
    grants = [recorded for recorded in past if _is_grant(recorded)]
    if grants:
        explained = _explain_placed(follower, state, grants[-1], hidden)
        locking = _explain_locking(follower, state, at, position) if state.awaits_locks else {}
        return {**_description(state, position), **explained, **locking}
    return {**_description(state, position), **_explain_ended(follower, state, past[-1], options)}


def _is_grant(recorded: Recorded) -> bool:
    """Return whether the scheduler granted a system. A set that loses a system is scheduled again, too."""
    return isinstance(recorded.event, RecipeScheduled) and recorded.stamp.basis is not None


def _folded_recipe(recipe_id: int, past: list[Recorded]) -> Recipe:
    state: Recipe | None = None
    for recorded in past:
        state = evolve(state, recipe_id, recorded.event, Moment.of(recorded))
    if state is None:
        raise Unknown(display_name("recipe", recipe_id))
    return state


def _description(state: Recipe, position: int) -> dict[str, Any]:
    names = ("recipe_id", "host_recipe_id", "recipe_set_id", "job_id", "state", "owner", "group")
    return {
        "position": position,
        **{name: getattr(state, name) for name in (*names, "system", "lab_controller")},
        "waiting": None,
        "granted": None,
        "locking": None,
    }


def _preempted_by(past: list[Recorded]) -> Iterator[str]:
    """Yield the reason why a recipe waits again, if another set has preempted its set."""
    *_, last = (recorded.event for recorded in past if hasattr(recorded.event, "STATE"))
    if isinstance(last, RecipeQueued) and last.preempted_by is not None:
        yield last.reason


def _explain_waiting(
    follower: Follower, partition: Partition, recipe_id: int, options: WaitingOptions
) -> dict[str, Any]:
    host = partition.sets.recipes[recipe_id]
    if options.only is not None and options.only not in partition.systems:
        raise Unknown(display_name("system", options.only))
    waiting = asdict(why_it_waits(partition, host, options))
    counted = waiting["counted"]
    waiting["counted"] = {"known": counted.pop("registered"), **counted}
    holders = [one["holder"] for one in waiting["systems"] if one["holder"] is not None]
    moments = follower.moments({holder["since"] for holder in holders})
    for holder in holders:
        holder["since_position"] = holder["since"]
        holder["since"] = moments[holder["since"]]
    own = {"recipe_id": recipe_id, "priority": partition.sets.sets[host.recipe_set_id].priority.name}
    ahead = (other for one in waiting["systems"] for other in one["ahead"])
    add_changes(follower, partition, [own, *ahead], partition.position)
    return {**own, "summary": waiting.pop("summary"), "waiting": waiting}


def _explain_ended(
    follower: Follower, state: Recipe, last: Recorded, options: WaitingOptions
) -> dict[str, Any]:
    """Explain a recipe that ended without ever having a system, as of the decision that ended it, if any.

    Admission holds it back no more, whatever held its set back before that decision.
    """
    summary = getattr(last.event, "reason", None) or NEVER_PLACED
    if last.stamp.basis is None:
        return {"summary": summary}
    basis = last.stamp.basis
    partition, then = follower.at(basis.position), replace(options, now=basis.now)
    explained = _explain_waiting(follower, partition, state.recipe_id, then)
    return {**explained, "summary": summary, "waiting": {**explained["waiting"], "held_back": []}}


def _explain_placed(
    follower: Follower, state: Recipe, granted: Recorded, hidden: Collection[str]
) -> dict[str, Any]:
    """Explain the last grant of a recipe. Of a hidden system, say only that: all else would reveal it."""
    assert isinstance(granted.event, RecipeScheduled)
    if granted.event.system in hidden:
        return {"summary": NOT_SHOWN}
    commit = follower.commit_of(granted)
    partition = follower.before(commit)
    if not decides_alike(partition, commit.basis.policy_version):
        return {"summary": OTHER_RULES}
    if granted.stamp.cause.startswith(PREEMPTION):
        return {"summary": _preemption(partition, commit, granted)}
    grant = why_granted(
        partition, state.recipe_id, commit.basis.now, len(commit.decisions), frozenset(hidden)
    )
    if grant is None or grant.cause != granted.stamp.cause:
        return {"summary": NOT_RECOMPUTED}
    shown = {"position": granted.position, **asdict(grant)}
    own: dict[str, Any] = {"recipe_id": state.recipe_id}
    add_changes(follower, partition, [own, *shown["passed_over"], *shown["behind"]], commit.basis.position)
    return {**own, "summary": grant.summary, "granted": shown}


def _preemption(partition: Partition, commit: DecidedCommit, granted: Recorded) -> str:
    """Return why a recipe got the system of another one; the partition is at the basis of the commit."""
    events = (each.events for each in commit.decisions if each.cause == granted.stamp.cause)
    preempted = (subject for subject, event in chain.from_iterable(events) if isinstance(event, RecipeQueued))
    recipes = partition.sets.recipes
    victims = dict.fromkeys(recipes[int(each.partition("/")[2])].recipe_set_id for each in preempted)
    sets = "recipe set" if len(victims) == 1 else "recipe sets"
    return f"{PREEMPTED_OTHERS}: {sets} {', '.join(map(str, victims))}"


def _explain_locking(follower: Follower, state: Recipe, at: int | None, position: int) -> dict[str, Any]:
    """Explain why the set of a recipe waits for its resource locks."""
    partition = follower.at(position, is_end=at is None)
    wait = lock_wait(partition, state.recipe_set_id)
    if wait is None:
        return {}
    hosts = {number: _unfinished_host(partition, number) for number in (state.recipe_set_id, *wait.waits_for)}
    pasts = follower.pasts((host.subject for host in hosts.values()), position)
    since = {number: _since_waiting(pasts[host.subject]) for number, host in hosts.items()}
    blockers = [
        {
            "recipe_set_id": number,
            "job_id": hosts[number].job_id,
            "why": why_in_the_way(partition, number),
            **since[number],
        }
        for number in wait.waits_for
    ]
    locking = {
        **asdict(wait),
        **since[state.recipe_set_id],
        "locks": wanted_locks(partition, state.recipe_set_id),
        "max_overtaken": partition.configuration.locks.max_overtaken,
        "waits_for": blockers,
    }
    return {"summary": lock_summary(partition, wait), "locking": locking}


def _unfinished_host(partition: Partition, recipe_set_id: int) -> Recipe:
    return next(host for host in partition.sets.hosts(recipe_set_id) if not host.finished)


def _since_waiting(past: Iterable[Recorded]) -> dict[str, Any]:
    """Return the time and position since which a recipe has its locks, or waits for them."""
    last = [each for each in past if isinstance(each.event, RecipeWaiting | RecipeLocked)][-1]
    return {"since": last.recorded_at, "since_position": last.position}


def order(
    follower: Follower, system: str, at: int | None, now: str, after: list[int], limit: int
) -> dict[str, Any]:
    """Return the recipes that might get a system, in rank order at `now`, after the key `after`."""
    partition = follower.at_end() if at is None else follower.at(at)
    state = partition.systems.get(system)
    if state is None:
        raise Unknown(display_name("system", system))
    placed = islice(places_on(partition, state, datetime.fromisoformat(now), after), limit)
    return {"position": partition.position, "recipes": [place._asdict() for place in placed]}


def weights(follower: Follower, recipe_ids: list[int], at: int | None, now: str) -> dict[str, Any]:
    """Return the weights of recipes at `now`, in the given order; None for recipes that do not wait."""
    partition = follower.at_end() if at is None else follower.at(at)
    partition.weigh_at(datetime.fromisoformat(now))
    recipes = map(partition.sets.recipes.get, recipe_ids)
    return {
        "position": partition.position,
        "weights": [
            weight_of(partition, recipe) if recipe is not None and recipe.state in UNPLACED else None
            for recipe in recipes
        ],
    }


def set_weight(follower: Follower, recipe_set_id: int, at: int | None, now: str) -> dict[str, Any]:
    """Return the weight of a set at `now`, with its worst cells; None if it has no unplaced recipe."""
    partition = follower.at_end() if at is None else follower.at(at)
    partition.weigh_at(datetime.fromisoformat(now))
    found = weight_of_set(partition, recipe_set_id)
    return {"position": partition.position, "weight": None if found is None else asdict(found)}


def held_back(follower: Follower, recipe_set_ids: list[int], at: int | None, now: str) -> dict[str, Any]:
    """Return the rows of admission that hold sets back at `now`, in the given order of the sets."""
    partition = follower.at_end() if at is None else follower.at(at)
    partition.weigh_at(datetime.fromisoformat(now))
    rows = (set_held_back_by(partition, recipe_set_id) for recipe_set_id in recipe_set_ids)
    return {"position": partition.position, "held_back": [[asdict(row) for row in each] for each in rows]}


def lock_waits(follower: Follower, recipe_set_ids: list[int], at: int | None) -> dict[str, Any]:
    """Return the waits of the sets that wait for their resource locks."""
    partition = follower.at_end() if at is None else follower.at(at)
    waits = (lock_wait(partition, recipe_set_id) for recipe_set_id in recipe_set_ids)
    return {"position": partition.position, "waits": [asdict(wait) for wait in waits if wait is not None]}


ANSWERS: Final[Mapping[str, Callable[..., dict[str, Any]]]] = {
    "recipe": recipe,
    "matches": matches,
    "job_matches": job_matches,
    "order": order,
    "job_filter": job_filter,
    "configuration": configuration,
    "lock_waits": lock_waits,
    "weights": weights,
    "set_weight": set_weight,
    "held_back": held_back,
    "reasons": reasons,
    "reason_counts": reason_counts,
}


def add_changes(
    follower: Follower, partition: Partition, descriptions: Iterable[dict[str, Any]], upto: int
) -> None:
    """Add `priority_change` to descriptions that have a `recipe_id`, as of a position. One query at most."""
    described = [(each, partition.sets.recipes[each["recipe_id"]].recipe_set_id) for each in descriptions]
    # Most sets have no event but their submission.
    changed = {f"recipe-set/{number}" for _, number in described if partition.sets.sets[number].version > 1}
    pasts = follower.pasts(changed, upto) if changed else {}
    for description, number in described:
        description["priority_change"] = _last_change(pasts.get(f"recipe-set/{number}", ()))


def _last_change(past: Iterable[Recorded]) -> dict[str, Any] | None:
    changes = [each for each in past if isinstance(each.event, RecipeSetSubmitted | RecipeSetPriorityChanged)]
    for before, last in reversed(list(pairwise(changes))):
        return {
            "actor": last.stamp.actor,
            "position": last.position,
            "at": last.recorded_at,
            "was": before.event.priority,  # type: ignore[attr-defined]
            "became": last.event.priority,  # type: ignore[attr-defined]
        }
    return None
