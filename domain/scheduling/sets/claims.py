"""The claims of a partition by system, and the waiting recipes that force a system (decision 37)."""

from __future__ import annotations

from collections.abc import Iterator

from domain.recipe.state import Recipe

WAITING = ("queued", "assigned")
"""The states in which a recipe may claim a system: the decision on a new recipe comes first."""


class Claims:
    """Claimants and forcing recipes by system. Mutable: `put` each state, `drop` finished recipes.

    `of` has the id of the recipe that claims a system, `forcing` the ids of the waiting hosts that force
    a system, by the name of the system.
    """

    def __init__(self) -> None:
        self.of: dict[str, int] = {}
        self.forcing: dict[str, dict[int, None]] = {}

    def put(self, before: Recipe | None, recipe: Recipe) -> None:
        """Store a state of a recipe, `before` None if the claims do not know the recipe."""
        claim_before = None if before is None else before.claim
        if claim_before is None and recipe.claim is None:
            return
        if claim_before is not None and self.of.get(claim_before.system) == recipe.recipe_id:
            del self.of[claim_before.system]
        if recipe.claim is not None:
            self.of[recipe.claim.system] = recipe.recipe_id

    def force(self, host: Recipe, system: str) -> None:
        """Store whether a host, which forces a system, waits."""
        if host.state in WAITING:
            self.forcing.setdefault(system, {})[host.recipe_id] = None
        else:
            self.drop(host, system)

    def drop(self, host: Recipe, system: str) -> None:
        """Drop a host that forces a system no more."""
        theirs = self.forcing.get(system, {})
        theirs.pop(host.recipe_id, None)
        if not theirs:
            self.forcing.pop(system, None)

    def systems(self) -> Iterator[str]:
        """Yield each system that is claimed or forced, once."""
        yield from self.of
        yield from (system for system in self.forcing if system not in self.of)
