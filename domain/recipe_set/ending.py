"""Cancellation and abort (design section 2): of a whole set before its start, later of single recipes."""

from __future__ import annotations

from domain.events import Decided, Event
from domain.recipe.claim import ENDED
from domain.recipe.events import RecipeAborted, RecipeCancelled, RecipeClaimEnded
from domain.recipe.state import Recipe
from domain.recipe_set.members import Members

HOST_ENDED = "its host recipe ended"


def cancel_set(members: Members, reason: str) -> Decided:
    """Return the events that cancel a set, none if it has finished."""
    return _end_set(members, RecipeCancelled(reason=reason))


def abort_set(members: Members, reasons: dict[int, str]) -> Decided:
    """Return the events that abort a set; `reasons` are by recipe id."""
    ended = members.all_of(lambda recipe: RecipeAborted(reason=reasons[recipe.recipe_id]))
    return _claims_end(members) + ended + members.freeing(members.hosts)


def abort(members: Members, recipe: Recipe, reason: str) -> Decided:
    """Return the events that abort a recipe, and its set if that has not started; none if it has finished."""
    if recipe.finished:
        return []
    if not members.started:
        return _end_set(members, RecipeAborted(reason=reason))
    return end_one(members, recipe, RecipeAborted(reason=reason))


def end_one(members: Members, recipe: Recipe, event: Event) -> Decided:
    """Return the events that end a started recipe with `event`, abort its guests and free its system."""
    ended: Decided = [(recipe.subject, event)]
    if recipe.is_guest:
        return ended
    return ended + guests_end(members, recipe) + members.freeing([recipe])


def guests_end(members: Members, host: Recipe) -> Decided:
    return [
        (guest.subject, RecipeAborted(reason=HOST_ENDED))
        for guest in members.guests_of(host)
        if not guest.finished
    ]


def end_claim(host: Recipe, reason: str) -> Decided:
    """Return the event that ends the claim of a recipe, none without a claim."""
    if host.claim is None:
        return []
    return [(host.subject, RecipeClaimEnded(system=host.claim.system, reason=reason))]


def _end_set(members: Members, event: Event) -> Decided:
    return _claims_end(members) + members.all_of(lambda _: event) + members.freeing(members.hosts)


def _claims_end(members: Members) -> Decided:
    """Return the ends of the claims of a set, before that of the recipes, which never change afterwards."""
    return [end for host in members.hosts for end in end_claim(host, ENDED)]
