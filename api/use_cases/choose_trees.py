"""Choice of the distro trees of a job, with limited work."""

from __future__ import annotations

import time
from datetime import datetime
from functools import partial
from typing import Final, NamedTuple, NoReturn

from api.use_cases.ports import NameParts
from domain.distro_choice.distro_trees import Chosen, DistroTrees
from domain.errors import Fault, FaultyInput
from domain.job.spec import JobSpec

# The scheduler makes the same comparisons, which take it some 0.3 s, before it makes another decision.
MAX_COMPARISONS: Final = 1_000_000
# Checked between sets; a set's number of recipes limits its time.
MAX_CPU_SECONDS: Final = 2.0


class ChosenTrees(NamedTuple):
    """The tree of each recipe of a job, in document order; `hopeless` if no lab could run some set."""

    tree_ids: list[int | None]
    hopeless: bool


async def distro_trees(parts: NameParts, spec: JobSpec, submitter: str, partition: int) -> ChosenTrees:
    """Return the trees of a job in a partition.

    Raises FaultyInput if the choice takes too much work, TooOften while another long choice of the submitter
    is running.
    """
    chosen = await _chosen(parts, spec, submitter, partition)
    tree_ids = [tree_id for choice in chosen for tree_id in choice.tree_ids]
    return ChosenTrees(tree_ids, any(choice.hopeless for choice in chosen))


async def require_bounded(parts: NameParts, spec: JobSpec, submitter: str) -> None:
    """Raise FaultyInput for requirements that take too many comparisons."""
    trees = parts.feed.distro_trees
    if not trees.is_quick(spec.recipe_sets):
        await parts.feed.run_long_query(submitter, partial(_require_bounded, trees, spec))


async def _chosen(parts: NameParts, spec: JobSpec, submitter: str, partition: int) -> list[Chosen]:
    trees, owner, now = parts.feed.distro_trees, spec.owner or submitter, parts.clock()
    if trees.is_quick(spec.recipe_sets):
        return [
            trees.choose(recipe_set, owner, spec.group, now, partition) for recipe_set in spec.recipe_sets
        ]
    choose_all = partial(_choose_all, trees, spec, owner, now, partition)
    return await parts.feed.run_long_query(submitter, choose_all)


def _choose_all(trees: DistroTrees, spec: JobSpec, owner: str, now: datetime, partition: int) -> list[Chosen]:
    """Choose the trees of all sets; runs in a thread."""
    began_seconds = time.thread_time()
    _require_bounded(trees, spec)
    chosen: list[Chosen] = []
    for recipe_set in spec.recipe_sets:
        if time.thread_time() - began_seconds > MAX_CPU_SECONDS:
            _refuse(f"choosing the distro trees of the job takes more than {MAX_CPU_SECONDS:g} s of CPU time")
        chosen.append(trees.choose(recipe_set, owner, spec.group, now, partition))
    return chosen


def _require_bounded(trees: DistroTrees, spec: JobSpec) -> None:
    count = trees.comparisons(spec.recipe_sets)
    if count > MAX_COMPARISONS:
        _refuse(
            f"the requirements take {count} comparisons with the values of {trees.systems} systems, and"
            f" {MAX_COMPARISONS} are allowed: use fewer patterns (like), or compare with ="
        )


def _refuse(message: str) -> NoReturn:
    raise FaultyInput([Fault("body", message)])
