"""Events of recipe sets. Changes of state are events of the recipes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from domain.events import Event, event


@event("recipe-set.submitted", version=4)
class RecipeSetSubmitted(Event):
    """A recipe set was submitted, with all facts on which its admission depends.

    `recipe_ids` are in document order, each host before its guests. `tasks` and `operations` are the names of
    all recipes, each once. `reasons` and `depends_on` are those of the job and then of the set, each once.
    Each of the `depends_on` is {"job" or "recipe_set": id, "states": [...]}. `profile` is the document of the
    merged resource locks of all recipes, with unknown names for their systems, labs and pools. `queue` is the
    path of the queue into which placement rules put the job, None for `root.default`. A `preemptible` set may
    lose its systems also after its start.
    """

    job_id: int
    priority: str
    recipe_ids: Sequence[int]
    owner: str = ""
    submitter: str = ""
    group: str | None = None
    tasks: Sequence[str] = ()
    operations: Sequence[str] = ()
    reasons: Sequence[str] = ()
    depends_on: Sequence[Mapping[str, Any]] = ()
    profile: Mapping[str, Any] = field(default_factory=dict)
    queue: str | None = None
    preemptible: bool = False

    @classmethod
    def upcast(cls, data: dict[str, Any], version: int) -> dict[str, Any]:
        # Version 1 had no facts for admission: such a set depends on nothing and matches no name. Version 2
        # had no queues, version 3 no preemption.
        return data if version < 4 else super().upcast(data, version)


@event("recipe-set.priority-changed")
class RecipeSetPriorityChanged(Event):
    priority: str


@event("recipe-set.reviewed")
class RecipeSetReviewed(Event):
    """A person has reviewed the ended set; `review` is one of `domain.recipe_set.review.REVIEWS`."""

    review: str
    reason: str


@event("recipe-set.waived")
class RecipeSetWaived(Event):
    """A person accepts the failure of a task of the ended set, or without `task_id` all failures of the set.

    The results themselves stay as they were reported. `recipe_id` is the recipe of the task.
    """

    recipe_id: int | None
    task_id: int | None
    reason: str


@event("recipe-set.waiver-ended")
class RecipeSetWaiverEnded(Event):
    """A person has revoked the waiver of a task or, without `task_id`, that of the set."""

    recipe_id: int | None
    task_id: int | None
    reason: str


@event("recipe-set.changed")
class RecipeSetChanged(Event):
    """Recipes of the set have changed; `document` is that of the whole set in its job, after the change.

    The other fields are those of `recipe-set.submitted`, with their values after the change.
    """

    tasks: Sequence[str]
    operations: Sequence[str]
    profile: Mapping[str, Any]
    document: Mapping[str, Any]
