"""The queue of a new job: by the placement rules, by rights and maxima, or refused with every fault."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson
import pytest

from api.use_cases.change_partition import configure_partition
from api.use_cases.put_document import put_document
from api.use_cases.remove_document import remove_document
from api.use_cases.submit_job import AcceptedJob, submit_job, submit_jobs
from domain.admission.configuration import configuration_to_json, stored_configuration
from domain.directory.events import PartitionConfigured
from domain.errors import FaultyInput, NotPermitted, Refused
from domain.job.events import JobSubmitted
from domain.job.spec import JobSpec, RecipeSetSpec
from domain.priority import Priority
from domain.recipe_set.events import RecipeSetSubmitted
from store.requests import Committed
from tests.random_histories.jobs import job, named, recipe
from tests.use_cases.town import Town, as_admin, by

ADVICE = "choose another queue or a smaller set"
MOVED = (
    'the job names "root.kernel.net", but the placement rules put it into root.kernel.storage: '
    "no rule provided comes before rule fixed root.kernel.storage"
)
QUEUES = {
    "submit": {"users": ["root"]},
    "queues": [
        {
            "name": "kernel",
            "max": 3,
            "submit": {"groups": ["qa"]},
            "queues": [{"name": "net", "limits": [{"user": "ada", "max": 1}]}, {"name": "storage"}],
        },
        {"name": "default", "submit": {"users": ["bob"]}},
    ],
}


@pytest.fixture
def town(town: Town) -> Town:
    configured(town)
    return town


def configured(town: Town, queues: Any = QUEUES, *placement: Any, process: int = 0) -> Committed | None:
    wanted = stored_configuration({"queues": queues, "placement": list(placement)})
    return town.ask(configure_partition, as_admin(), "default", wanted, process=process)


def of(queue: str | None = None, hosts: int = 1, **more: Any) -> JobSpec:
    recipes = tuple(recipe(named(name)) for name in "abcdef"[:hosts])
    return replace(job((RecipeSetSpec(Priority.Normal, recipes),)), queue=queue, **more)


def queues_of(town: Town, done: Committed) -> list[str | None]:
    """Return the queues of the jobs and sets of a submission, in log order."""
    found, _ = town.log.select(done.first_position - 1, done.position, 100)
    events = [recorded.event for recorded in found]
    return [event.queue for event in events if isinstance(event, JobSubmitted | RecipeSetSubmitted)]


def test_job__names_a_queue__is_there_with_its_sets(town: Town) -> None:
    done = town.ask(submit_job, by("bob"), of("root.kernel.net"))
    assert queues_of(town, done) == ["root.kernel.net", "root.kernel.net"]
    assert orjson.loads(done.answer)["warnings"] == []


def test_job__names_none__is_in_the_default_queue_without_a_name_in_the_log(town: Town) -> None:
    assert queues_of(town, town.ask(submit_job, by("bob"), of())) == [None, None]


def test_job__may_not_go_where_it_wants__is_where_the_rules_lead_with_a_warning(town: Town) -> None:
    configured(town, QUEUES, {"rule": "fixed", "value": "root.kernel.storage"}, {"rule": "provided"})
    done = town.ask(submit_job, by("bob"), of("root.kernel.net"))
    assert queues_of(town, done) == ["root.kernel.storage"] * 2
    assert orjson.loads(done.answer)["warnings"] == [{"where": "queue", "message": MOVED}]


def test_job__names_a_queue_that_does_not_exist__is_refused_with_the_nearest(town: Town) -> None:
    before = town.log.end()
    jobs = [AcceptedJob(of()), AcceptedJob(of("root.kernel.nett"))]
    with pytest.raises(FaultyInput) as refused:
        town.ask(submit_jobs, by("bob"), jobs)
    assert str(refused.value) == (
        'jobs[1].queue: there is no queue "root.kernel.nett" in partition default; '
        "did you mean root.kernel.net?"
    )
    assert town.log.end() == before


def test_jobs__all_misspell_a_queue__the_first_three_have_near_names(town: Town) -> None:
    with pytest.raises(FaultyInput) as refused:
        town.ask(submit_jobs, by("bob"), [AcceptedJob(of("root.kernel.nett"))] * 5)
    near = [fault.message.endswith("did you mean root.kernel.net?") for fault in refused.value.faults]
    assert near == [True] * 3 + [False] * 2


def test_job__misspells_a_queue__only_leaves_that_take_its_jobs_are_suggested(town: Town) -> None:
    def suggested(user: str, queue: str) -> str:
        with pytest.raises(FaultyInput) as refused:
            town.ask(submit_job, by(user), of(queue))
        return str(refused.value).partition(" in partition default")[2]

    # The nearest name would be that of the parent.
    assert suggested("ada", "kernell") == "; did you mean root.kernel.net?"
    # Ada may not submit to the default queue.
    assert suggested("ada", "defaultt") == ""
    assert suggested("bob", "defaultt") == "; did you mean root.default?"


def test_job__names_a_vanished_queue__is_refused_because_it_is_draining(town: Town) -> None:
    configured(town, {**QUEUES, "queues": [{**QUEUES["queues"][0], "queues": [{"name": "storage"}]}]})
    with pytest.raises(FaultyInput) as refused:
        town.ask(submit_job, by("bob"), of("kernel.net"))
    assert str(refused.value) == (
        "queue: the configuration no longer names root.kernel.net, which is draining in partition default"
    )


def test_job__of_a_user_without_any_right__is_not_permitted(town: Town) -> None:
    with pytest.raises(
        NotPermitted, match="eve may not submit to any queue to which rules lead: rule provided: eve may not"
    ):
        town.ask(submit_job, by("eve"), of("root.kernel.net"))


def test_job__without_an_open_queue__is_refused_with_what_each_rule_said(town: Town) -> None:
    closed = [*QUEUES["queues"][:1], {"name": "default", "state": "draining"}]
    configured(town, {"submit": {"users": ["*"]}, "queues": closed})
    with pytest.raises(FaultyInput) as refused:
        town.ask(submit_job, by("eve"), of("root.kernel"))
    assert str(refused.value) == (
        "queue: no rule leads to an active leaf to which eve may submit: "
        "rule provided: root.kernel is a parent, and only leaves take jobs; "
        "rule fixed root.default: root.default is draining and takes no new jobs"
    )


@pytest.mark.parametrize(
    ("owner", "hosts", "maxima"),
    [
        ("bob", 3, []),
        ("bob", 4, ["max 3 systems in queue root.kernel"]),
        (
            "ada",
            4,
            ["max 1 systems of user ada in queue root.kernel.net", "max 3 systems in queue root.kernel"],
        ),
        ("ada", 2, ["max 1 systems of user ada in queue root.kernel.net"]),
    ],
)
def test_set__larger_than_a_maximum_on_its_way_up__is_refused(
    town: Town, owner: str, hosts: int, maxima: list[str]
) -> None:
    spec = of("kernel.net", hosts, owner=owner)
    if not maxima:
        assert queues_of(town, town.ask(submit_job, by("root"), spec)) == ["root.kernel.net"] * 2
        return
    with pytest.raises(FaultyInput) as refused:
        town.ask(submit_job, by("root"), spec)
    assert [(fault.where, fault.message) for fault in refused.value.faults] == [
        ("recipe_sets[0]", f"needs {hosts} systems at once, over the limit: {maximum}; {ADVICE}")
        for maximum in maxima
    ]


def test_configuration__changes_while_a_job_is_submitted__is_in_the_queue_of_the_new_one(town: Town) -> None:
    appended = town.scene.apis[0].appended
    storage = {"rule": "fixed", "value": "root.kernel.storage"}
    with appended.preceded(lambda: configured(town, QUEUES, storage, process=1)):
        done = town.ask(submit_job, by("bob"), of())
    assert queues_of(town, done) == ["root.kernel.storage"] * 2
    without = {"submit": {"users": ["*"]}, "queues": []}
    with appended.preceded(lambda: configured(town, without, process=1)), pytest.raises(FaultyInput):
        town.ask(submit_job, by("bob"), of("root.kernel.net"))


def test_configuration__names_unknown_people__is_refused_with_all(town: Town) -> None:
    before = town.log.end()
    with pytest.raises(FaultyInput) as refused:
        configured(town, {"submit": {"users": ["bobb"]}}, {"rule": "user", "filter": {"groups": ["qaa"]}})
    assert [(fault.where, fault.message) for fault in refused.value.faults] == [
        ("queues.submit", 'there is no user "bobb"'),
        ("placement[0].filter", 'there is no group "qaa"'),
    ]
    assert town.log.end() == before


def test_job__names_a_queue_of_a_moment_ago__is_there(town: Town) -> None:
    configured(town, {"queues": [*QUEUES["queues"][:1], {"name": "fresh"}]}, process=1)
    assert queues_of(town, town.ask(submit_job, by("bob"), of("root.fresh"))) == ["root.fresh"] * 2


RULES = ({"rule": "provided", "filter": {"allow": False, "users": ["eve"]}},)
# Each place of a configuration that names eve or the group ops.
NAMING: list[tuple[str, str, Any, tuple[Any, ...]]] = [
    ("user", "eve", {"submit": {"users": ["eve"]}}, ()),
    ("user", "eve", {"queues": [{"name": "a", "limits": [{"user": "eve", "max": 1}]}]}, ()),
    ("user", "eve", {}, RULES),
    ("group", "ops", {"queues": [{"name": "a", "admin": {"groups": ["ops"]}}]}, ()),
]
NEW: dict[str, dict[str, Any]] = {"user": {}, "group": {"owners": ["ada"], "members": []}}


@pytest.mark.parametrize(("kind", "name", "queues", "rules"), NAMING)
def test_user_or_group__removed_and_named_by_a_configuration__cannot_be_registered_again(
    town: Town, kind: str, name: str, queues: Any, rules: tuple[Any, ...]
) -> None:
    configured(town, queues, *rules)
    town.ask(remove_document, as_admin(), kind, name)
    before = town.log.end()
    with pytest.raises(Refused) as refused:
        town.ask(put_document, as_admin(), kind, name, NEW[kind])
    assert str(refused.value) == (
        f"the configuration of partition default names {kind} {name}, which was removed; "
        "drop the name there first"
    )
    assert town.log.end() == before
    # Another process drops the name, which this one has not read yet.
    configured(town, {}, process=1)
    assert town.ask(put_document, as_admin(), kind, name, NEW[kind]) is not None


def test_user__a_configuration_begins_to_name_it_before_its_registration__is_refused(town: Town) -> None:
    """The configuration does not know the removal yet, nor the registration the configuration."""
    town.ask(remove_document, as_admin(), "user", "eve")
    town.scene.apis[1].catch_up()
    wanted = configuration_to_json(stored_configuration({"queues": {"admin": {"users": ["eve"]}}}))
    named = PartitionConfigured(wanted)
    with (
        town.scene.apis[1].appended.preceded(lambda: town.append("partition/default", named)),
        pytest.raises(Refused, match="names user eve"),
    ):
        town.ask(put_document, as_admin(), "user", "eve", {}, process=1)
