"""The claims of a partition by system, and the waiting recipes that force a system (design 6.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from domain.recipe.state import Recipe

WAITING = ("queued", "assigned")
"""The states in which a recipe may claim a system: the decision on a new recipe comes first."""


class Claims:
    """Claimants and forcing recipes by system. Mutable: `put` each state, `drop` finished recipes.

    `of` has the id of the recipe that claims a system, by its name; `systems` has the numbers of claimed
    systems, as a bitmap. `forcing` has the ids of the waiting hosts that force a system, by its case-folded
    name, since requirements ignore the case.
    """

    def __init__(self, number_of: Callable[[str], int]) -> None:
        self._number_of = number_of
        self.of: dict[str, int] = {}
        self.systems = 0
        self.forcing: dict[str, dict[int, None]] = {}

    def put(self, before: Recipe | None, recipe: Recipe) -> None:
        """Store a state of a recipe, `before` None if the claims do not know the recipe."""
        claim_before = None if before is None else before.claim
        if claim_before is None and recipe.claim is None:
            return
        if claim_before is not None and self.of.get(claim_before.system) == recipe.recipe_id:
            del self.of[claim_before.system]
            self.systems &= ~(1 << self._number_of(claim_before.system))
        if recipe.claim is not None:
            self.of[recipe.claim.system] = recipe.recipe_id
            self.systems |= 1 << self._number_of(recipe.claim.system)

    def force(self, host: Recipe, system: str) -> None:
        """Store whether a host, which forces a system, waits."""
        if host.state in WAITING:
            self.forcing.setdefault(system.casefold(), {})[host.recipe_id] = None
        else:
            self.drop(host, system)

    def drop(self, host: Recipe, system: str) -> None:
        """Drop a host that forces a system no more."""
        name = system.casefold()
        theirs = self.forcing.get(name, {})
        theirs.pop(host.recipe_id, None)
        if not theirs:
            self.forcing.pop(name, None)

    def forced_by(self, system: str) -> Iterable[int]:
        """Return the ids of the waiting hosts that force a system."""
        return self.forcing.get(system.casefold(), ()) if self.forcing else ()
