"""Changes of a submitted recipe set: which of its recipes differ in another document of the set (design 6).

Only the requirements, tasks and locks of recipes can be changed. A changed recipe gets new tasks with new ids
if its tasks differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final, NamedTuple

from domain.contention.documents import locks_to_json
from domain.contention.operations import SHIPPED, OperationTable
from domain.errors import Fault
from domain.job.spec import RecipeSetSpec
from domain.job.submission import members_of, operations_of, profile_of, task_document
from domain.recipe.events import RecipeChanged, RecipeNew
from domain.recipe_set.events import RecipeSetChanged

# The submission chose the distro trees of the set by these.
_CHOOSE_TREES: Final = frozenset({"host_requires", "distro_requires", "distro"})
CHANGEABLE: Final = _CHOOSE_TREES | {"tasks", "locks"}

Document = Mapping[str, Any]


class SetChange(NamedTuple):
    """The events of a changed set: those of its changed recipes by id, and that of the set itself."""

    recipes: Mapping[int, RecipeChanged]
    of_set: RecipeSetChanged


def recipe_documents(recipe_set: Document) -> list[Document]:
    """Return the documents of the recipes of a set in the order of their ids, each host before its guests."""
    hosts = recipe_set["recipes"]
    return [recipe for host in hosts for recipe in (host, *host.get("guests", ()))]


def change_faults(before: Document, after: Document) -> list[Fault]:
    """Return the differences of two documents of a set in fields that cannot be changed, as faults."""
    faults: list[Fault] = []
    _compare({**before, "recipes": None}, {**after, "recipes": None}, "", faults)
    hosts = zip_longest(before["recipes"], after["recipes"])
    for place, (host, other) in enumerate(hosts):
        where = f"recipes[{place}]"
        if host is None or other is None:
            count = len(before["recipes"])
            faults.append(Fault("recipes", f"must have as many members as before: {count}"))
            break
        _compare_recipes(host, other, where, faults)
    return faults


def _compare_recipes(before: Document, after: Document, where: str, faults: list[Fault]) -> None:
    _compare({**before, "guests": None}, {**after, "guests": None}, f"{where}.", faults)
    guests, others = before.get("guests", ()), after.get("guests", ())
    if len(guests) != len(others):
        faults.append(Fault(f"{where}.guests", f"must have as many members as before: {len(guests)}"))
        return
    for place, (guest, other) in enumerate(zip(guests, others, strict=True)):
        _compare(guest, other, f"{where}.guests[{place}].", faults)


def _compare(before: Document, after: Document, where: str, faults: list[Fault]) -> None:
    message = f"cannot be changed; only {', '.join(sorted(CHANGEABLE))} can"
    faults += [
        Fault(f"{where}{field}", message)
        for field in sorted((before.keys() | after.keys()) - CHANGEABLE)
        if before.get(field) != after.get(field)
    ]


def new_task_count(before: Document, after: Document) -> int:
    """Return the number of new ids of tasks that a change needs."""
    pairs = zip(recipe_documents(before), recipe_documents(after), strict=True)
    return sum(len(new["tasks"]) for old, new in pairs if old["tasks"] != new["tasks"])


def chooses_trees(before: Document, after: Document) -> bool:
    """Return whether a change may lead to other distro trees."""
    pairs = zip(recipe_documents(before), recipe_documents(after), strict=True)
    return any(old.get(field) != new.get(field) for old, new in pairs for field in _CHOOSE_TREES)


def set_change(
    before: Document,
    after: Document,
    spec: RecipeSetSpec,
    present: Mapping[int, RecipeNew | RecipeChanged],
    tree_ids: Sequence[int | None],
    task_ids: Iterator[int],
    operations: OperationTable = SHIPPED,
) -> SetChange:
    """Return the change from one document of a set to another one, whose specification is `spec`.

    `present` has the last event of each recipe with its requirements and tasks, in the order of the
    documents. `tree_ids` has a distro tree for each recipe, `task_ids` as many ids as `new_task_count` says.
    Raises FaultyInput for a task with an unknown operation.
    """
    members = [*members_of(spec, iter(present), operations)]
    recipes: dict[int, RecipeChanged] = {}
    documents = zip(recipe_documents(before), recipe_documents(after), strict=True)
    for member, tree_id, (old, new) in zip(members, tree_ids, documents, strict=True):
        last = present[member.recipe_id]
        tasks = last.tasks
        if old["tasks"] != new["tasks"]:
            tasks = [task_document(task, next(task_ids)) for task in member.recipe.tasks]
        changed = RecipeChanged(
            host_requires=member.recipe.host_requires,
            distro_requires=member.recipe.distro_requires,
            distro_tree_id=tree_id,
            distro=member.recipe.distro,
            tasks=tasks,
            locks=locks_to_json(member.locks),
        )
        if any(getattr(changed, field) != getattr(last, field) for field in RecipeChanged.FIELDS):
            recipes[member.recipe_id] = changed
    of_set = RecipeSetChanged(
        tasks=tuple(dict.fromkeys([task.name for member in members for task in member.recipe.tasks])),
        operations=operations_of(members, operations),
        profile=locks_to_json(profile_of(members)),
        document=after,
    )
    return SetChange(recipes, of_set)
