"""What the process that explains is asked about, and how it answers: values for JSON."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict
from itertools import islice
from typing import Any, Final

from domain.errors import Unknown
from domain.events import Moment, Recorded
from domain.names import display_name
from domain.recipe.events import RecipeScheduled
from domain.recipe.lifecycle import UNPLACED
from domain.recipe.state import Recipe, evolve
from domain.scheduling.decisions.decide import POLICY_VERSION
from domain.scheduling.explaining.granted import why_granted
from domain.scheduling.explaining.places import places_on
from domain.scheduling.explaining.refusals import Refusal, of_system, refusals, refused_by_filter
from domain.scheduling.explaining.waiting import WaitingOptions, why_it_waits
from domain.scheduling.supply.filter_key import Demand, FilterKey, own_distro
from domain.scheduling.supply.labs import Labs
from domain.scheduling.world.partition import Partition
from workers.explaining.follower import Follower
from workers.explaining.priorities import add_changes

NEVER_PLACED: Final = "it never had a system"
OTHER_RULES: Final = "the decision was made by rules of another version, and cannot be made again"
NOT_SHOWN: Final = "the grant is explained to people who may view the system"
NOT_AGAIN: Final = "the decision cannot be made again as it was: `labledger replay verify` says more"


def recipe(
    follower: Follower,
    recipe_id: int,
    at: int | None,
    most: int,
    system: str | None,
    hidden: list[str],
    unknown: list[str],
) -> dict[str, Any]:
    """Return why a recipe waits, or why it got its system: as of a position, or of the end of the log.

    `hidden` systems are not shown; those of them that are `unknown` to the reader are not counted, either. A
    guest is explained by its host. Raises Unknown if there is no such recipe.
    """
    position = follower.end() if at is None else at
    past = follower.past(f"recipe/{recipe_id}", position)
    told = _folded(recipe_id, past)
    if told.host_recipe_id is not None:
        host = recipe(follower, told.host_recipe_id, at, most, system, hidden, unknown)
        return {**host, "recipe_id": recipe_id, "host_recipe_id": told.host_recipe_id}
    asked = WaitingOptions(most, system, frozenset(hidden), frozenset(unknown))
    if told.state in UNPLACED:
        known = follower.at(position, is_end=at is None)
        return {**_of(told, position), **_waiting(follower, known, recipe_id, asked)}
    given = [recorded for recorded in past if isinstance(recorded.event, RecipeScheduled)]
    if given:
        return {**_of(told, position), **_placed(follower, told, given[-1], hidden)}
    return {**_of(told, position), **_ended(follower, told, past[-1], asked)}


def _folded(recipe_id: int, past: list[Recorded]) -> Recipe:
    told: Recipe | None = None
    for recorded in past:
        told = evolve(told, recipe_id, recorded.event, Moment.of(recorded))
    if told is None:
        raise Unknown(display_name("recipe", recipe_id))
    return told


def _of(told: Recipe, position: int) -> dict[str, Any]:
    shown = ("recipe_id", "host_recipe_id", "recipe_set_id", "job_id", "state", "owner", "group")
    return {
        "position": position,
        **{name: getattr(told, name) for name in (*shown, "system", "lab_controller")},
        "waiting": None,
        "granted": None,
    }


def _waiting(
    follower: Follower, partition: Partition, recipe_id: int, asked: WaitingOptions
) -> dict[str, Any]:
    host = partition.sets.recipes[recipe_id]
    if asked.only is not None and asked.only not in partition.systems:
        raise Unknown(display_name("system", asked.only))
    told = asdict(why_it_waits(partition, host, asked))
    holders = [one["holder"] for one in told["systems"] if one["holder"] is not None]
    moments = follower.moments({holder["since"] for holder in holders})
    for holder in holders:
        holder["since_position"] = holder["since"]
        holder["since"] = moments[holder["since"]]
    own = {"recipe_id": recipe_id, "priority": partition.sets.sets[host.recipe_set_id].priority.name}
    ahead = (other for one in told["systems"] for other in one["ahead"])
    add_changes(follower, partition, [own, *ahead], partition.position)
    return {**own, "summary": told.pop("summary"), "waiting": told}


def _ended(follower: Follower, told: Recipe, last: Recorded, asked: WaitingOptions) -> dict[str, Any]:
    """Without ever having had a system: where the scheduler gave it up, how it stood then."""
    summary = getattr(last.event, "reason", None) or NEVER_PLACED
    if last.stamp.basis is None:
        return {"summary": summary}
    known = follower.at(last.stamp.basis.position)
    return {**_waiting(follower, known, told.recipe_id, asked), "summary": summary}


def _placed(follower: Follower, told: Recipe, granted: Recorded, hidden: Collection[str]) -> dict[str, Any]:
    """Explain the last grant of a system; of a hidden system only that there is a grant.

    The queue of a system, its state and its effective priorities tell of the system.
    """
    assert isinstance(granted.event, RecipeScheduled)
    if granted.event.system in hidden:
        return {"summary": NOT_SHOWN}
    made = follower.commit_of(granted)
    if made.basis.policy_version != POLICY_VERSION:
        return {"summary": OTHER_RULES}
    partition = follower.before(made)
    found = why_granted(partition, told.recipe_id, made.basis.now, len(made.decisions), frozenset(hidden))
    if found is None or found.cause != granted.stamp.cause:
        return {"summary": NOT_AGAIN}
    shown = {"position": granted.position, **asdict(found)}
    own: dict[str, Any] = {"recipe_id": told.recipe_id}
    add_changes(follower, partition, [own, *shown["passed_over"], *shown["behind"]], made.basis.position)
    return {**own, "summary": found.summary, "granted": shown}


def order(follower: Follower, system: str, at: int | None, after: list[Any], most: int) -> dict[str, Any]:
    """The recipes that might have a system, as it asks them; each by its `key`, from behind `after` on."""
    partition = follower.at_end() if at is None else follower.at(at)
    known = partition.systems.get(system)
    if known is None:
        raise Unknown(display_name("system", system))
    placed = (place for place in places_on(partition, known) if place.key > tuple(after))
    return {
        "position": partition.position,
        "recipes": [{**place._asdict(), "key": list(place.key)} for place in islice(placed, most)],
    }


def matches(follower: Follower, recipes: list[dict[str, Any]], hidden: list[str]) -> dict[str, Any]:
    """Of recipes that are not submitted, which systems would be viable, and why the others would not be, but
    for those that are `hidden`.

    Each is {"host_requires"} alone, or with what it installs and whose it is, as `_refused` reads it.
    """
    partition = follower.at_end()
    seen = sorted(set(partition.labs.names).difference(hidden))
    return {
        "position": partition.position,
        "recipes": [_systems(partition.labs, seen, _refused(partition, recipe)) for recipe in recipes],
    }


def _refused(partition: Partition, recipe: Mapping[str, Any]) -> tuple[Refusal, ...]:
    if "owner" not in recipe:
        return refused_by_filter(partition.labs, recipe["host_requires"])
    trees = recipe["distro_tree_id"], own_distro(recipe["distro"]), tuple(recipe["guest_tree_ids"])
    who = partition.who(recipe["owner"], recipe["group"])
    return refusals(partition.labs, Demand(FilterKey(recipe["host_requires"], *trees), who))


def _systems(labs: Labs, seen: Iterable[str], refused: tuple[Refusal, ...]) -> list[dict[str, Any]]:
    told = []
    for fqdn in seen:
        reasons = [refusal.says for refusal in of_system(refused, labs.number(fqdn))]
        told.append({"fqdn": fqdn, "viable": not reasons, "reasons": reasons})
    return told


ANSWERS: Final[Mapping[str, Callable[..., dict[str, Any]]]] = {
    "recipe": recipe,
    "matches": matches,
    "order": order,
}
