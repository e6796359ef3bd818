"""Sets that no lab could ever serve at once, with the reasons (design section 4.1).

Every registered system counts, whatever its condition, because a broken system may be repaired.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from domain.errors import unknown_name
from domain.job.names import KINDS
from domain.recipe.state import Recipe
from domain.requirements.distro import DISTRO
from domain.requirements.host import HOST
from domain.requirements.language import Language
from domain.scheduling.decisions.judged_set import JudgedSet, stored_set
from domain.scheduling.decisions.tree_locations import (
    labs_by_recipe,
    labs_with_tree,
    tree_label,
    tree_locations,
    tree_locations_by_recipe,
)
from domain.scheduling.safety.matching import match
from domain.scheduling.supply.filter_key import Demand, FilterKey
from domain.scheduling.supply.labs import Labs
from domain.scheduling.supply.reasons import (
    ABOUT_TREES,
    FIT_IN_DIFFERENT_LABS,
    NO_ACCESS,
    NO_DISTRO_TREE,
    NO_LAB_FOR_ALL,
    NO_LAB_HAS_ALL_TREES,
    NO_SYSTEM_MATCHES,
    SIBLING_IMPOSSIBLE,
    SIBLING_TREE_AWAY,
    TREE_AWAY,
)
from domain.scheduling.supply.rules import fitting, why_none
from domain.scheduling.world.partition import Partition


def why_never(partition: Partition, recipe_set_id: int) -> dict[int, str]:
    """Return the abort reason for each recipe of a stored set; see `why_never_served`."""
    return why_never_served(partition, stored_set(partition, recipe_set_id))


def why_never_served(partition: Partition, judged: JudgedSet) -> dict[int, str]:
    """Return the abort reason for each recipe of a set, guests included; empty if a lab could serve the set.

    A distro tree that left every lab shortly before the submission counts as if it were still there.
    """
    labs = _labs_with_absent_trees(partition, judged)
    hosts = judged.hosts
    entitled = [_entitled(partition, labs, judged.demand(host)) for host in hosts]
    if all(entitled) and (len(hosts) == 1 or _some_lab_serves(labs, entitled)):
        return {}
    own = {
        host.recipe_id: _why_none(partition, labs, judged, host)
        for host, systems in zip(hosts, entitled, strict=True)
        if not systems
    }
    otherwise = SIBLING_IMPOSSIBLE if own else _why_not_together(partition, labs, judged)
    return {
        recipe.recipe_id: own.get(recipe.host_recipe_id or recipe.recipe_id, otherwise)
        for recipe in judged.members
    }


def why_not_yet(partition: Partition, recipe_set_id: int) -> dict[int, str]:
    """Return the reason for each host of a set that needs an absent distro tree, empty for other sets."""
    judged = stored_set(partition, recipe_set_id)
    trees = _absent_trees(partition, judged)
    needed = {host.recipe_id: _first_in(trees, judged.demand(host).key) for host in judged.hosts}
    own = {
        recipe_id: f"{TREE_AWAY}: {tree_label(partition, tree_id)}"
        for recipe_id, tree_id in needed.items()
        if tree_id is not None
    }
    return {recipe_id: own.get(recipe_id, SIBLING_TREE_AWAY) for recipe_id in needed} if own else {}


def _absent_trees(partition: Partition, judged: JudgedSet) -> Mapping[int, Mapping[str, Any]]:
    """Return the last documents of the trees that the set needs and that were absent at its submission."""
    if not partition.absent_trees:
        return {}
    at = judged.submitted_at
    needed = dict.fromkeys(tree_id for host in judged.hosts for tree_id in judged.demand(host).key.tree_ids)
    document_at = partition.absent_trees.recent_document
    found = {tree_id: document_at(tree_id, at) for tree_id in needed if tree_id and at}
    return {tree_id: document for tree_id, document in found.items() if document is not None}


def _first_in(trees: Mapping[int, object], key: FilterKey) -> int | None:
    return next((tree_id for tree_id in key.tree_ids if tree_id in trees), None)


def _labs_with_absent_trees(partition: Partition, judged: JudgedSet) -> Labs:
    trees = _absent_trees(partition, judged)
    return partition.labs.with_more_trees(trees) if trees else partition.labs


def _fitting(partition: Partition, labs: Labs, key: FilterKey) -> int:
    return partition.filters.fitting(key) if labs is partition.labs else fitting(labs, key)


def _entitled(partition: Partition, labs: Labs, demand: Demand) -> int:
    return _fitting(partition, labs, demand.key) & labs.access.entitled(demand.submitter)


def _some_lab_serves(labs: Labs, entitled: list[int]) -> bool:
    return any(match([each & lab for each in entitled]) is not None for _, lab in labs.each())


def _why_not_together(partition: Partition, labs: Labs, judged: JudgedSet) -> str:
    """Return the reason for a set that no lab can serve, although each recipe could run alone."""
    trees = dict.fromkeys(each.distro_tree_id for each in judged.members if each.distro is None)
    labs_by_tree = [set(labs_with_tree(partition, labs, tree_id)) for tree_id in trees]
    named = tree_locations_by_recipe(partition, labs, judged.members)
    if labs_by_tree and not set.intersection(*labs_by_tree):
        return f"{NO_LAB_HAS_ALL_TREES}: {named}"
    fitting_labs = {host.recipe_id: _labs_of(partition, labs, judged.demand(host)) for host in judged.hosts}
    if not set.intersection(*map(set, fitting_labs.values())):
        return f"{FIT_IN_DIFFERENT_LABS}: {labs_by_recipe(fitting_labs)}"
    return f"{NO_LAB_FOR_ALL}: {named}" if named else NO_LAB_FOR_ALL


def _labs_of(partition: Partition, labs: Labs, demand: Demand) -> tuple[str, ...]:
    """Return the labs with a system that fits a recipe and to which its job may be submitted."""
    entitled = _entitled(partition, labs, demand)
    return tuple(sorted(name for name, lab in labs.each() if entitled & lab))


def _why_none(partition: Partition, labs: Labs, judged: JudgedSet, host: Recipe) -> str:
    key = judged.demand(host).key
    if None in key.tree_ids:
        return _with(NO_DISTRO_TREE, _unknown_of_trees(partition, judged, host))
    visible = ~partition.visible.hidden_from(host.owner)
    if _fitting(partition, labs, key) & visible:
        return NO_ACCESS
    reason = why_none(labs, key, visible)
    if reason == NO_SYSTEM_MATCHES:
        return _with(reason, unknown_names(partition, HOST, host.host_requires, host.owner))
    return _with(reason, tree_locations(partition, labs, key.tree_ids) if reason in ABOUT_TREES else "")


def _unknown_of_trees(partition: Partition, judged: JudgedSet, host: Recipe) -> str:
    """Return the names unknown in the distro requirements of the recipe and of its guests."""
    own = [each for each in judged.members if host.recipe_id in (each.recipe_id, each.host_recipe_id)]
    named = (
        unknown_names(partition, DISTRO, each.distro_requires, host.owner)
        for each in own
        if each.distro_requires
    )
    return "; ".join(dict.fromkeys(filter(None, named)))


def _with(reason: str, details: str) -> str:
    return f"{reason}: {details}" if details else reason


# Reasons are shown in table cells.
MAX_NAMES: Final = 4


def unknown_names(partition: Partition, language: Language, requirement: str, owner: str) -> str:
    """Return `there is no pool "smal"; …` for the names that do not exist, or only in hidden systems."""
    messages = dict.fromkeys(_unknown(partition, language, requirement, owner))
    return "; ".join(islice(messages, MAX_NAMES))


def _unknown(partition: Partition, language: Language, requirement: str, owner: str) -> Iterator[str]:
    mentions = [each for each in language.mentions(requirement) if not each.excludes]
    if not mentions:
        return
    names = partition.directory.name_index()
    for mention in mentions:
        kind, name = mention.kind, mention.name
        if not names.has(kind, name) or not partition.visible.may_know(owner, kind, name):
            yield unknown_name(KINDS[mention.kind], mention.name)
