"""Admins of queues: they cancel the jobs of others in their queues, and change the priority of the sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import orjson
import pytest

from api.use_cases.change_job import (
    cancel_job,
    cancel_recipe_set,
    change_job,
    change_priority,
    return_recipe,
)
from api.use_cases.change_partition import configure_partition
from api.use_cases.create_partition import create_partition
from api.use_cases.put_document import put_document
from api.use_cases.submit_job import submit_job
from domain.admission.configuration import stored_configuration
from domain.errors import NotPermitted
from domain.job.spec import RecipeSetSpec
from domain.priority import Priority
from tests.random_histories.jobs import job, named, recipe
from tests.use_cases.town import OTHER_LAB, Town, as_admin, by

BOTH = {
    "queues": [
        {
            "name": "kernel",
            "admin": {"users": ["bob"]},
            "queues": [{"name": "net", "admin": {"groups": ["qa"]}}, {"name": "storage"}],
        },
        {"name": "people", "admin": {"users": ["bob"]}, "template": {}, "queues": []},
        {"name": "other", "admin": {"users": ["ada"]}},
    ]
}
# Without a template: root.people.eve is an ordinary queue, and a dynamic one with BOTH.
BEFORE = {"queues": [*BOTH["queues"][::2], {"name": "people", "queues": [{"name": "eve"}]}]}
Act = Callable[[Town, str, dict[str, Any]], object]


def configured(town: Town, queues: Any = BOTH, partition: str = "default", labs: Sequence[str] = ()) -> None:
    wanted = stored_configuration({"queues": queues, "placement": [], "lab_controllers": list(labs)})
    town.ask(configure_partition, as_admin(), partition, wanted)


def submitted(town: Town, queue: str | None, partition: str | None = None) -> dict[str, Any]:
    """Submit a job of eve, and return its ids."""
    spec = job([RecipeSetSpec(Priority.Normal, (recipe(named("a")),))])
    done = town.ask(submit_job, by("eve"), replace(spec, queue=queue, partition=partition))
    answer: dict[str, Any] = orjson.loads(done.answer or b"")
    return answer


def cancels(town: Town, who: str, ids: dict[str, Any]) -> object:
    return town.ask(cancel_job, by(who), ids["job_id"], "enough")


def cancels_set(town: Town, who: str, ids: dict[str, Any]) -> object:
    return town.ask(cancel_recipe_set, by(who), ids["recipe_set_ids"][0], "enough")


def hurries(town: Town, who: str, ids: dict[str, Any]) -> object:
    return town.ask(change_priority, by(who), ids["recipe_set_ids"][0], Priority.Urgent)


def renames(town: Town, who: str, ids: dict[str, Any]) -> object:
    return town.ask(change_job, by(who), ids["job_id"], {"whiteboard": "mine"})


def returns(town: Town, who: str, ids: dict[str, Any]) -> object:
    return town.ask(return_recipe, by(who), ids["recipe_ids"][0])


# The queue of a job, a user, and whether the user may do it. Ada and bob are in the group qa.
WHO = [
    ("root.kernel.net", "bob", True),
    ("root.kernel.net", "ada", True),
    # The right of the queue above holds below, that of a sibling does not.
    ("root.kernel.storage", "bob", True),
    ("root.kernel.storage", "ada", False),
    ("root.other", "bob", False),
    # A dynamic queue has the admins of the queues above.
    ("root.people.eve", "bob", True),
    ("root.people.eve", "ada", False),
    # The default queue is nobody's.
    (None, "bob", False),
]


@pytest.mark.parametrize("act", [cancels, cancels_set, hurries])
@pytest.mark.parametrize(("queue", "who", "allowed"), WHO)
def test_job__of_another_user__is_stopped_and_hurried_by_admins_of_its_queue(
    town: Town, act: Act, queue: str | None, who: str, allowed: bool
) -> None:
    configured(town, BEFORE)
    ids = submitted(town, queue)
    configured(town)
    before = town.log.end()
    if allowed:
        assert act(town, who, ids) is not None
    else:
        message = f"belongs to eve; .* admins of queue {queue or 'root.default'} or of a queue above, may"
        with pytest.raises(NotPermitted, match=message):
            act(town, who, ids)
        assert town.log.end() == before


@pytest.mark.parametrize("act", [renames, returns])
def test_job__of_another_user__its_other_properties_stay_with_the_owner(town: Town, act: Act) -> None:
    configured(town)
    with pytest.raises(NotPermitted, match=r"^job \d+ belongs to eve$"):
        act(town, "bob", submitted(town, "root.kernel.net"))


def test_everybody__administers_a_queue__and_only_that(town: Town) -> None:
    configured(town, {"queues": [{"name": "free", "admin": {"users": ["*"]}}, {"name": "other"}]})
    free, other = submitted(town, "root.free"), submitted(town, "root.other")
    assert cancels(town, "ada", free) is not None
    with pytest.raises(NotPermitted):
        cancels(town, "ada", other)


def test_vanished_queue__with_jobs__keeps_its_own_admins_and_those_above(town: Town) -> None:
    configured(town)
    jobs = [submitted(town, "root.kernel.net") for _ in range(2)]
    configured(town, {"admin": {"users": ["root"]}, "queues": [{"name": "kernel"}, {"name": "other"}]})
    # Bob is no admin of root.kernel any more, but in the group of root.kernel.net.
    assert cancels(town, "bob", jobs[0]) is not None
    town.ask(put_document, as_admin(), "group", "qa", {"owners": ["ada"], "members": []})
    with pytest.raises(NotPermitted):
        cancels(town, "bob", jobs[1])
    configured(town, {"admin": {"users": ["bob"]}, "queues": []})
    assert cancels(town, "bob", jobs[1]) is not None


def test_admin__named_after_the_submission__counts_until_the_configuration_names_another(town: Town) -> None:
    first, second = submitted(town, None), submitted(town, None)
    configured(town, {"queues": [{"name": "default", "admin": {"users": ["bob"]}}]})
    assert cancels(town, "bob", first) is not None
    configured(town, {"queues": [{"name": "default", "admin": {"users": ["ada"]}}]})
    with pytest.raises(NotPermitted):
        cancels(town, "bob", second)


def test_admin__of_a_queue_of_the_same_name_in_another_partition__has_no_right(town: Town) -> None:
    town.ask(create_partition, as_admin(), "far")
    configured(town, BOTH, "far", [OTHER_LAB])
    configured(town, {"queues": [{"name": "other"}, {"name": "kernel", "queues": [{"name": "net"}]}]})
    here, there = submitted(town, "root.kernel.net"), submitted(town, "root.kernel.net", "far")
    with pytest.raises(NotPermitted):
        cancels(town, "bob", here)
    assert cancels(town, "bob", there) is not None
