"""The audit finds queues that are over a maximum, and first systems of sets in stopped queues."""

from __future__ import annotations

from typing import Any

import pytest

from tests.replay.audit.moves import configured, only, place
from tests.replay.audit.planted import assert_caught
from tests.replay.audit.story import Story

NET, STORAGE = "root.k.net", "root.k.storage"
OF_ADA = {"owner": "ada", "group": "qa"}


def begun(*sections: dict[str, Any]) -> Story:
    """Return a story: recipe 1 of ada, for the group qa, waits on a in a queue; b is idle."""
    story = Story()
    story.labs("lab-1")
    story.tree(1, "lab-1")
    story.idle("a", "b")
    story.job(1, {1: only("a")}, submitted={**OF_ADA, "queue": NET})
    story.decide(place(1, "a"))
    for section in sections:
        story.commit(configured(queues=section))
    return story


def kernel(*children: dict[str, Any], **properties: Any) -> dict[str, Any]:
    return {"queues": [{"name": "k", **properties, "queues": list(children)}, {"name": "default"}]}


def two(**of_net: Any) -> dict[str, Any]:
    return kernel({"name": "net", **of_net}, {"name": "storage"})


OF_USERS = [{"user": "*", "max": 1}]


@pytest.mark.parametrize(
    ("sections", "queue", "job", "is_over"),
    [
        # On the leaf.
        ([two(max=1)], NET, 5, True),
        ([two(max=2)], NET, 5, False),
        ([two(max=1)], STORAGE, 5, False),
        # On a parent, also for another leaf.
        ([kernel({"name": "net"}, {"name": "storage"}, max=1)], STORAGE, 5, True),
        # By user and by group.
        ([two(limits=OF_USERS)], NET, 5, True),
        ([two(limits=[*OF_USERS, {"user": "ada", "max": 2}])], NET, 5, False),
        ([two(limits=[{"group": "qa", "max": 1}])], NET, 5, True),
        ([two(limits=[{"group": "qe", "max": 1}])], NET, 5, False),
        # By jobs: another set of the same job needs no room.
        ([two(max_jobs=1)], NET, 5, True),
        ([two(max_jobs=1)], NET, 1, False),
        # By a template.
        ([{"queues": [{"name": "k", "template": {"max": 1}, "queues": []}]}], NET, 5, True),
        # A vanished queue keeps its maximum, unless it is named again.
        ([two(max=1), {"queues": []}], NET, 5, True),
        ([two(max=1), {"queues": []}, two()], NET, 5, False),
        # By state, here or above.
        ([two(state="stopped")], NET, 5, True),
        ([kernel({"name": "net"}, state="stopped")], NET, 5, True),
        ([two(state="draining")], NET, 5, False),
        ([two(state="stopped"), two()], NET, 5, False),
    ],
)
def test_admitted__grant_in_a_queue__is_found_if_over_a_maximum_or_stopped(
    sections: list[dict[str, Any]], queue: str, job: int, is_over: bool
) -> None:
    story = begun(*sections)
    story.job(5, {5: only("b")}, submitted={**OF_ADA, "queue": queue, "job_id": job})
    story.batch(place(5, "b"))
    if is_over:
        assert_caught(story, "admitted", "recipe/5", "recipe-set/5", "system/b")
    else:
        assert list(map(str, story.violations())) == []
