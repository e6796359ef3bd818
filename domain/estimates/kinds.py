"""Kinds of waiting recipes, from narrow to wide: recipes of one kind wait for the same systems."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final, NamedTuple

# Texts of requirements, which recipes share.
_CACHED: Final = 4_096
UNKNOWN_ARCH: Final = ""


class WaitProperties(NamedTuple):
    """The properties that comparable recipes share. `requirement` is a digest."""

    requirement: str
    arch: str


class RecipeKind(NamedTuple):
    """A kind of recipes: those that share some properties, all in one partition."""

    name: str
    same_requirement: bool
    same_arch: bool
    same_priority: bool
    words: str


LADDER: Final = (
    # Recipes that need the same machines, and are as urgent, wait for the same recipes to end.
    RecipeKind("requirement and priority", True, True, True, "with the same requirement and priority"),
    # Rare machines have few recipes of each priority.
    RecipeKind("requirement", True, True, False, "with the same requirement"),
    # Most requirements are written once; few machines of an architecture make all of its recipes wait.
    RecipeKind("architecture and priority", False, True, True, "with the same architecture and priority"),
    RecipeKind("priority", False, False, True, "with the same priority"),
    RecipeKind("partition", False, False, False, "of the partition"),
)
"""From the narrowest kind to the widest one."""


@lru_cache(_CACHED)
def wait_properties(host_requires: str, distro_requires: str, own_arch: str | None = None) -> WaitProperties:
    """Return the properties of a recipe with these canonical requirements.

    `own_arch` is the architecture of a custom distro. The distro requirement counts by its architecture only,
    because most name a build that is a few days old at most.
    """
    arch = own_arch or _arch_in(distro_requires) or _arch_in(host_requires)
    digest = sha256(f"{arch}\n{host_requires}".encode()).hexdigest()
    return WaitProperties(digest[:16], arch or UNKNOWN_ARCH)


def own_arch_of(distro_document: Mapping[str, Any] | None) -> str | None:
    """Return the architecture of a custom distro, as in `recipe.new`."""
    return None if distro_document is None else str(distro_document["arch"])


def _arch_in(text: str) -> str | None:
    """Return the architecture that a requirement demands outright. The text is empty for a custom distro."""
    form = json.loads(text) if text else {}
    for leaf in form.get("and", (form,)):
        if leaf.get("element") == "arch" and leaf.get("op") == "==":
            return str(leaf["value"])
    return None
