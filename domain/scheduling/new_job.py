"""A recipe set is new (design section 4.1): what it can have now, it gets; what nobody could, is given up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from domain.recipe.events import RecipeQueued
from domain.recipe.state import Recipe
from domain.recipe_set.ending import abort_set
from domain.scheduling.bitmaps import union
from domain.scheduling.choice import choices
from domain.scheduling.draft import Decision, Draft
from domain.scheduling.granting import grant, is_safe
from domain.scheduling.impossible import why_never, why_not_yet
from domain.scheduling.matching import match
from domain.scheduling.partition import Partition
from domain.scheduling.reasons import SET_INCOMPLETE, UNSAFE
from domain.scheduling.triggers import Trigger
from domain.scheduling.wanted import hopeless, wanted
from domain.scheduling.why_waits import why_waits


def new_job(partition: Partition, trigger: Trigger) -> Decision:
    draft = Draft(partition, trigger)
    recipe_set_id = int(trigger.name)
    if never := why_never(partition, recipe_set_id):
        draft.happen(abort_set(partition.members(recipe_set_id), never))
    elif not_yet := why_not_yet(partition, recipe_set_id):
        _queue(draft, recipe_set_id, not_yet)
    else:
        _place(draft, recipe_set_id)
    return draft.decision()


def _place(draft: Draft, recipe_set_id: int) -> None:
    """Recipes with the fewest viable systems first; if nobody gets one, all are queued."""
    partition = draft.partition
    hosts = partition.sets.hosts(recipe_set_id)
    # A wanted system that a wake-up is about to ask is as good as pending: the queue looks first.
    asked = union(partition.asked_by(subject) for subject in partition.triggers.to_be_asked())
    free = ~wanted(partition, asked)
    reach = _where_all_start(partition, hosts, free)
    reasons: dict[int, str] = {}
    for host in sorted(hosts, key=lambda host: (partition.viable(host).bit_count(), host.recipe_id)):
        reason = _place_one(draft, host.recipe_id, free, reach)
        if reason is not None:
            reasons[host.recipe_id] = reason
    if len(reasons) == len(hosts):
        _queue(draft, recipe_set_id, reasons)


def _queue(draft: Draft, recipe_set_id: int, reasons: Mapping[int, str]) -> None:
    members = draft.partition.members(recipe_set_id)
    for host in draft.partition.sets.hosts(recipe_set_id):
        draft.happen(members.together(host, RecipeQueued(reason=reasons[host.recipe_id])))


def _place_one(draft: Draft, recipe_id: int, free: int, reach: int) -> str | None:
    """The reason for having none, or None where it got a system.

    `reach` are the systems of the labs in which the whole set can start at once, 0 where there are none.
    """
    partition = draft.partition
    host = partition.sets.recipes[recipe_id]
    candidates = partition.idle(host) & free
    if host.lab_controller is not None:
        candidates &= partition.labs.lab_controller[host.lab_controller]
    if not candidates:
        return why_waits(partition, host, free)
    fits = candidates & reach or _of_sufficient_labs(partition, host, candidates)
    if not fits:
        return SET_INCOMPLETE
    eligible = (
        number
        for number in choices(partition, host, fits, draft.trigger.cause)
        if (_rest_can_start(partition, host, number, free) if reach else is_safe(partition, host, number))
    )
    number = next(eligible, None)
    if number is None:
        return UNSAFE
    grant(draft, host, partition.system(number), instead=eligible)
    return None


def _where_all_start(partition: Partition, hosts: Sequence[Recipe], free: int) -> int:
    """The systems of the labs in which every recipe could have an idle one at the same time."""
    idle = [partition.idle(host) & free for host in hosts]
    if len(hosts) == 1 or not all(idle):
        return idle[0] if len(hosts) == 1 else 0
    labs = (lab for _, lab in partition.labs.each())
    return union(lab for lab in labs if match([each & lab for each in idle]) is not None)


def _rest_can_start(partition: Partition, host: Recipe, number: int, free: int) -> bool:
    """Whether its siblings still have an idle system each, in the same lab, if it takes this one."""
    lab_controller = partition.system(number).lab_controller
    others = partition.labs.lab_controller[lab_controller] & free & ~(1 << number)
    rest = [
        sibling
        for sibling in partition.sets.missing(host.recipe_set_id)
        if sibling.recipe_id != host.recipe_id
    ]
    return match([partition.idle(sibling) & others for sibling in rest]) is not None


def _of_sufficient_labs(partition: Partition, host: Recipe, candidates: int) -> int:
    """Those candidates whose lab could serve all that the set still wants, if everything came free."""
    return candidates & union(
        lab
        for name, lab in partition.labs.each()
        if candidates & lab and not hopeless(partition, host.recipe_set_id, name)
    )
