"""Which labs have which distro trees, in the words of a reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from domain.recipe.state import Recipe
from domain.scheduling.partition import Partition

# A reason is read in a table: of many labs, recipes or trees the first say enough.
MOST_NAMED: Final = 4


def called(partition: Partition, tree_id: int | None) -> str:
    """`60 (Fedora-44)`; the number alone where nobody knows the tree any more."""
    entry = partition.directory.get("distro-tree", str(tree_id))
    return str(tree_id) if entry is None else f"{tree_id} ({entry.document['name']})"


def where(partition: Partition, tree_ids: Iterable[int | None]) -> str:
    """`60 (Fedora-44) is in lab.south; 3 (Fedora-44) is in lab.east, lab.west`."""
    return _listed([_where(partition, tree_id) for tree_id in dict.fromkeys(tree_ids)], "; ")


def where_of_each(partition: Partition, recipes: Iterable[Recipe]) -> str:
    """`recipes 1, 2: 60 (Fedora-44) is in lab.south; recipe 3: ...`, of all that install a tree."""
    of_tree: dict[int | None, list[str]] = {}
    for recipe in recipes:
        if recipe.distro is None:
            of_tree.setdefault(recipe.distro_tree_id, []).append(str(recipe.recipe_id))
    told = (
        f"recipe{'s' if len(ids) > 1 else ''} {_listed(ids)}: {_where(partition, tree_id)}"
        for tree_id, ids in of_tree.items()
    )
    return _listed(list(told), "; ")


def _where(partition: Partition, tree_id: int | None) -> str:
    return (
        f"{called(partition, tree_id)} is in {_listed(sorted(partition.labs.labs_with(tree_id))) or 'no lab'}"
    )


def _listed(words: Sequence[str], between: str = ", ") -> str:
    more = len(words) - MOST_NAMED
    return between.join(words[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
