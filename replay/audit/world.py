"""The world: the state of a lab, folded from records."""

from __future__ import annotations

from sys import intern
from typing import Any

from replay.audit.folds import FOLDS
from replay.audit.record import EventRecord
from replay.audit.rights import Submitter
from replay.audit.state import State
from replay.audit.values import Recipe, System


class FoldedWorld(State):
    """The state with queries. Mutable."""

    # Queries

    def guests(self, host: Recipe) -> list[Recipe]:
        return [recipe for recipe in self.members(host.set_id) if recipe.host_id == host.recipe_id]

    def document(self, system: System) -> dict[str, Any]:
        return {
            **system.inventory,
            "fqdn": system.fqdn,
            "lab_controller": system.lab,
            "owner": system.owner,
            "condition": system.condition,
            "pools": list(self.pools.get(system.fqdn, ())),
            "user": system.user,
            "loaned_to": system.borrower,
        }

    def group_counts(self, submitter: Submitter) -> bool:
        """Return whether a job's group counts: not after its owner left it, or it was removed."""
        group = submitter.group or ""
        return group not in self.removed_groups and submitter.user not in self.former_people.get(group, ())

    # Folds

    def apply(self, record: EventRecord) -> None:
        fold = FOLDS.get(record.topic)
        if fold is not None and record.topic.startswith(f"{record.kind}."):
            fold(self, record)


# Fields of `recipe.new` that the audit reads. The others are dropped, to save memory in unread events.
FOLDED_FIELDS = (
    "recipe_set_id",
    "host_recipe_id",
    "owner",
    "group",
    "host_requires",
    "distro_tree_id",
    "distro",
    "locks",
)


def is_folded(record: EventRecord) -> bool:
    return record.topic in FOLDS


def folded(record: EventRecord) -> EventRecord:
    if record.topic != "recipe.new":
        return record
    data = {name: record.data[name] for name in FOLDED_FIELDS if record.data.get(name) not in (None, {})}
    data["host_requires"] = intern(data["host_requires"])
    return record._replace(data=data)
