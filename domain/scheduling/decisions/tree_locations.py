"""The labs of a partition that have certain distro trees, or suit certain recipes, as text of a reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from domain.errors import listed
from domain.recipe.state import Recipe
from domain.scheduling.supply.labs import Labs
from domain.scheduling.world.partition import Partition

# The maximum number of labs, recipes or trees in a list, because reasons are shown in table cells.
MAX_NAMED: Final = 4

_listed = partial(listed, max_named=MAX_NAMED)


def tree_label(partition: Partition, tree_id: int | None) -> str:
    """Return `60 (Fedora-44)`, or the id alone for a tree that was removed long ago."""
    entry = partition.directory.get("distro-tree", str(tree_id))
    document = partition.absent_trees.last_document(tree_id) if entry is None else entry.document
    return str(tree_id) if document is None else f"{tree_id} ({document['name']})"


def tree_locations(partition: Partition, labs: Labs, tree_ids: Iterable[int | None]) -> str:
    """Return `60 (Fedora-44) is in lab.south; 3 (Fedora-44) is in lab.east, lab.west`."""
    return _listed(
        [_tree_location(partition, labs, tree_id) for tree_id in dict.fromkeys(tree_ids)], between="; "
    )


def tree_locations_by_recipe(partition: Partition, labs: Labs, recipes: Iterable[Recipe]) -> str:
    """Return `recipes 1, 2: 60 (Fedora-44) is in lab.south; recipe 3: …`, without custom distros."""
    trees = {recipe.recipe_id: recipe.distro_tree_id for recipe in recipes if recipe.distro is None}
    return _by_recipe(
        {recipe_id: _tree_location(partition, labs, tree_id) for recipe_id, tree_id in trees.items()}
    )


def labs_by_recipe(labs: Mapping[int, Sequence[str]]) -> str:
    """Return `recipe 1: lab.east; recipes 2, 3: lab.south, lab.west` from labs by recipe id."""
    return _by_recipe({recipe_id: _listed(names) for recipe_id, names in labs.items()})


def _by_recipe(texts: Mapping[int, str]) -> str:
    """Return the texts of recipes in one text; recipes with equal texts are listed together."""
    recipes: dict[str, list[str]] = {}
    for recipe_id, text in texts.items():
        recipes.setdefault(text, []).append(str(recipe_id))
    items = (f"recipe{'s' if len(ids) > 1 else ''} {_listed(ids)}: {text}" for text, ids in recipes.items())
    return _listed(list(items), between="; ")


def labs_with_tree(partition: Partition, labs: Labs, tree_id: int | None) -> list[str]:
    """Return the labs of the partition that have a tree, by name. A tree has the URLs in all labs.

    In a log without moved labs, every lab is in `default`, so the reasons of policy version 6 are the same.
    """
    return sorted(filter(partition.has_lab, labs.labs_with(tree_id)))


def _tree_location(partition: Partition, labs: Labs, tree_id: int | None) -> str:
    names = labs_with_tree(partition, labs, tree_id)
    nowhere = "no lab of the partition" if labs.labs_with(tree_id) else "no lab"
    return f"{tree_label(partition, tree_id)} is in {_listed(names) or nowhere}"
