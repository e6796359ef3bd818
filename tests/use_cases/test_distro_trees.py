"""Distro trees, and objects of the same name."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import orjson
import pytest

from api.intake import read_job
from api.use_cases import choose_trees
from api.use_cases.change_job import change_job
from api.use_cases.change_policy import change_pool_policy, change_system_policy
from api.use_cases.change_system import NewSystemValues, change_system
from api.use_cases.choose_trees import distro_trees, require_bounded
from api.use_cases.lend_system import lend_system
from api.use_cases.move_system import move_system
from api.use_cases.put_document import put_document
from api.use_cases.remove_document import remove_document
from api.use_cases.reserve_system import ReservationRequest, reserve_system, return_system
from api.use_cases.submit_job import submit_job
from api.use_cases.system_rights import require_may_change
from domain.access.policy import PolicyEntry
from domain.directory import events as directory_events
from domain.distro_choice.distro_trees import DistroTrees
from domain.errors import FaultyInput, NotPermitted
from domain.events import Change, Decided, Stamp
from domain.job.spec import JobSpec, RecipeSetSpec
from domain.priority import Priority
from domain.recipe.events import RecipeNew
from domain.system.events import SystemAccessPolicyChanged
from domain.system_admin.registration import register
from store.requests import AppendRequest
from tests.in_process.environment import BEGINNING, Environment
from tests.intake.jobs import NAMES, SAMPLES, sample
from tests.random_histories.jobs import job, named, recipe
from tests.random_histories.labs import tree
from tests.use_cases.town import LAB, OTHER_LAB, Town, as_admin, by

SOUTH = "lab.south.example.com"
MACHINE = {"type": "Machine", "arches": ["x86_64"], "memory_mb": 65_536}


def _lab() -> Iterator[tuple[str, Any]]:
    """Yield the sample lab, and another lab with a machine and a newer Fedora, as in `run-a-lab.md`."""
    lab = json.loads((SAMPLES / "lab.json").read_text())
    for fqdn in (SOUTH, *(each["fqdn"] for each in lab["lab_controllers"])):
        yield f"lab-controller/{fqdn}", directory_events.LabControllerRegistered(True)
    for each in lab["distro_trees"]:
        fields = {name: each[name] for name in directory_events.DistroTreeRegistered.FIELDS}
        yield f"distro-tree/{each['id']}", directory_events.DistroTreeRegistered(**fields)
        if each["id"] == 3:
            newer = {**fields, "urls": {SOUTH: ["http://south/"]}, "added_at": "2026-06-01T00:00:00Z"}
            yield "distro-tree/60", directory_events.DistroTreeRegistered(**newer)
    for each in lab["pools"]:
        yield f"pool/{each['name']}", directory_events.PoolRegistered(owner_group=None)
    for each in lab["systems"]:
        yield from register(each)
    beside = {"fqdn": f"x86-01.{SOUTH}", "lab_controller": SOUTH, "owner": "admin", "condition": "Automated"}
    yield from register({**MACHINE, **beside, "pools": []})


def trees(town: Town, spec: JobSpec) -> list[int | None]:
    done = town.ask(submit_job, by("bob"), spec)
    subjects = [f"recipe/{number}" for number in orjson.loads(done.answer or b"")["recipe_ids"]]
    past = town.log.load(dict.fromkeys(subjects, 0))
    news = [past[subject][0].event for subject in subjects]
    return [new.distro_tree_id for new in news if isinstance(new, RecipeNew)]


SAMPLE_TREES = [
    ("kernel-smoke.xml", [1]),
    ("nfs-multihost.xml", [1, 1]),
    # The lab in the south lacks the RHEL of the host, so the guest gets a Fedora of the lab of its host.
    ("guests.xml", [1, 3, 1]),
    # A lab with one machine cannot run two recipes.
    ("pinned.xml", [4, 3, 3]),
]


@pytest.mark.parametrize(("name", "tree_ids"), SAMPLE_TREES)
def test_sample__newer_tree_in_a_lab_of_one_machine__has_those_of_the_other_labs(
    environment: Environment, name: str, tree_ids: list[int]
) -> None:
    with environment.scene() as scene:
        scene.put(_lab())
        spec = read_job(sample(name), "application/xml", NAMES, "bob", is_admin=True).spec
        assert trees(Town(scene), spec) == tree_ids


def _wanted(distro_requires: str) -> JobSpec:
    one = replace(recipe({"and": []}), distro_requires=distro_requires)
    return job([RecipeSetSpec(Priority.Normal, (one,))])


ANY_DISTRO = '{"and":[]}'


def test_submission__newest_tree_in_a_lab_without_systems__has_the_other(town: Town) -> None:
    later = {**tree(2, [OTHER_LAB]), "added_at": "2027-01-01T00:00:00Z"}
    beside = {"fqdn": "c", "lab_controller": LAB, "owner": "ada", "condition": "Automated", "pools": []}
    news = [
        ("distro-tree/2", directory_events.DistroTreeRegistered(**later)),
        *register({**MACHINE, **beside}),
    ]
    town.scene.put(news)
    assert trees(town, _wanted(ANY_DISTRO)) == [1]


def test_submission__tree_is_in_the_log_and_not_yet_in_the_directory__has_it(town: Town) -> None:
    spec = _wanted(recipe({"and": []}, "tree-2").distro_requires)
    assert trees(town, spec) == [None]
    put: Decided = [("distro-tree/2", directory_events.DistroTreeRegistered(**tree(2, ["lab-1"])))]
    stamp = Stamp(BEGINNING, "admin", "request/elsewhere")
    changes = tuple(Change(subject, event, stamp) for subject, event in put)
    town.log.append([AppendRequest("elsewhere", changes, {"distro-tree/2": 0})])
    assert trees(town, spec) == [2]


def test_submission__newest_tree_in_a_lab_for_some__is_judged_for_the_owner_and_the_group(town: Town) -> None:
    later = {**tree(2, [OTHER_LAB]), "added_at": "2027-01-01T00:00:00Z"}
    town.scene.put([("distro-tree/2", directory_events.DistroTreeRegistered(**later))])
    for fqdn, lab in (("c", LAB), ("d", OTHER_LAB)):
        beside = {"fqdn": fqdn, "lab_controller": lab, "owner": "root", "condition": "Automated", "pools": []}
        town.scene.put(register({**MACHINE, **beside}))
    entries = [
        {"permission": "submit", name: value, "maximum_effective_priority": "Low"}
        for name, value in (("user", "ada"), ("group", "qa"))
    ]
    town.happens("system/d", SystemAccessPolicyChanged(entries=entries, active_pool=None))
    spec = _wanted(ANY_DISTRO)
    assert trees(town, spec) == [1], "bob"
    assert trees(town, replace(spec, group="qa")) == [2], "bob, for qa"
    assert trees(town, replace(spec, owner="ada")) == [2], "for ada"


def _with_patterns(count: int) -> JobSpec:
    patterns = {"or": [{"element": "hostname", "op": "like", "value": f"%x{n}%"} for n in range(count)]}
    return job([RecipeSetSpec(Priority.Normal, (recipe(patterns),))])


def test_submission__more_comparisons_than_allowed__is_refused_and_says_so(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choose_trees, "MAX_COMPARISONS", 1_000)
    end = town.log.end()
    for ask in (submit_job, require_bounded):
        with pytest.raises(FaultyInput, match=r"20\d\d comparisons.* 2 systems.* 1000 are allowed"):
            # Two systems with different names.
            if ask is submit_job:
                town.ask(submit_job, by("bob"), _with_patterns(999))
            else:
                town.scene.api.ask(lambda services, _: require_bounded(services, _with_patterns(999), "bob"))
    assert town.log.end() == end


def test_submission__long_choice__leaves_the_event_loop_while_nothing_is_folded(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[str] = []
    choose = DistroTrees.choose

    def noted(self: DistroTrees, *args: Any) -> Any:
        threads.append(threading.current_thread().name)
        assert town.services().feed._folding.locked()
        return choose(self, *args)

    monkeypatch.setattr(DistroTrees, "choose", noted)
    town.ask(submit_job, by("bob"), _with_patterns(999))
    assert threads and all(name.startswith("long-queries") for name in threads)


def test_submission__beyond_the_budget_of_cpu_time__is_refused(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choose_trees, "MAX_CPU_SECONDS", -1.0)
    with pytest.raises(FaultyInput, match="of CPU time"):
        town.scene.api.ask(lambda services, _: distro_trees(services, _with_patterns(999), "bob", 1))


def test_submission__tree_was_removed_a_moment_ago__has_it_all_the_same(town: Town) -> None:
    spec = _wanted(recipe({"and": []}, "tree-1").distro_requires)
    town.happens("distro-tree/1", directory_events.DistroTreeRemoved())
    assert trees(town, spec) == [1]


FIRE = {"whiteboard": "fire"}
KEPT = ReservationRequest("eve", None, None)


def submitted(town: Town, user: str, group: str | None = None) -> int:
    spec = replace(job([RecipeSetSpec(Priority.Normal, (recipe(named("a")),))]), group=group)
    return int(orjson.loads(town.ask(submit_job, by(user), spec).answer or b"")["job_id"])


def replaced(town: Town, kind: str, name: str, document: dict[str, object]) -> None:
    """Remove an object, and add another one of the same name."""
    town.ask(remove_document, as_admin(), kind, name)
    town.ask(put_document, as_admin(), kind, name, document)


def may_change(town: Town, user: str, fqdn: str, change: NewSystemValues) -> None:
    request = by(user)

    def may(system: object) -> None:
        require_may_change(town.services().feed.directory, request, system)  # type: ignore[arg-type]

    town.ask(change_system, request, fqdn, change, may)


def test_job__of_a_namesake__is_not_theirs_and_later_ones_are(town: Town) -> None:
    before = submitted(town, "eve")
    replaced(town, "user", "eve", {})
    with pytest.raises(NotPermitted):
        town.ask(change_job, by("eve"), before, FIRE)
    after = submitted(town, "eve")
    # A change is not a new registration.
    town.ask(put_document, as_admin(), "user", "eve", {"email": "eve@example.com"})
    assert town.ask(change_job, by("eve"), after, FIRE) is not None


def test_job__of_a_group_whose_name_is_anothers__is_not_theirs(town: Town) -> None:
    document = {"owners": ["ada"], "members": ["bob"]}
    town.ask(put_document, as_admin(), "pool", "net", {"owner_group": None})
    before = submitted(town, "eve", "qa")
    assert town.ask(change_job, by("bob"), before, FIRE) is not None
    replaced(town, "group", "qa", document)
    with pytest.raises(NotPermitted):
        town.ask(change_job, by("bob"), before, {"whiteboard": "water"})
    assert town.ask(change_job, by("bob"), submitted(town, "eve", "qa"), FIRE) is not None


def test_user__removed__reservations_end_in_the_same_commit(town: Town) -> None:
    town.ask(reserve_system, by("eve"), "a", KEPT)
    town.ask(reserve_system, by("bob"), "b", replace(KEPT, user="bob"))
    before = town.log.end()
    done = town.ask(remove_document, as_admin(), "user", "eve")
    assert done is not None and done.position == town.log.end()
    assert town.since(before) == [
        ("system/a", "system.reservation-ended"),
        ("system/a", "system.idle"),
        ("user/eve", "user.removed"),
    ]
    (ended, *_), _ = town.log.select(before, town.log.end(), 1)
    assert ended.event.reason == "user eve was removed"  # type: ignore[attr-defined]


def test_user__reserves_in_the_moment_of_the_removal__returns_it_too(town: Town) -> None:
    def reserves() -> None:
        town.ask(reserve_system, by("eve"), "a", KEPT)

    with town.scene.apis[1].appended.preceded(reserves):
        town.ask(remove_document, as_admin(), "user", "eve", process=1)
    town.ask(put_document, as_admin(), "user", "eve", {})
    assert town.ask(return_system, by("eve"), "a") is None


def test_reservation_and_loan__of_a_removed_user__not_for_the_next_of_that_name(town: Town) -> None:
    town.ask(reserve_system, by("eve"), "a", KEPT)
    town.ask(lend_system, as_admin(), "b", "eve", None)
    # Older versions returned nothing at a removal.
    town.happens("user/eve", directory_events.UserRemoved())
    before = town.log.end()
    town.ask(put_document, as_admin(), "user", "eve", {})
    assert [topic for _, topic in town.since(before)] == [
        *("system.reservation-ended", "system.idle", "system.loan-ended", "user.registered")
    ]


def test_policies__of_systems_and_pools_name_removed_user__entries_are_removed(town: Town) -> None:
    """This holds for users, groups, and the active pool."""
    theirs = [{"permission": "reserve", "user": "eve"}, {"permission": "reserve", "group": "qa"}]
    named = [*theirs, {"permission": "view", "everybody": True}]
    town.ask(change_pool_policy, as_admin(), "net", named)
    town.ask(change_system_policy, as_admin(), "a", named, "net")
    for kind, name in (("user", "eve"), ("pool", "net"), ("group", "qa")):
        town.ask(remove_document, as_admin(), kind, name)
    left = town.state("system/a")
    assert (left.access_policy, left.active_pool) == ((PolicyEntry("view"),), None)
    assert ("pool/net", "pool.access-policy-changed") in town.since(0)


GRANTED: list[tuple[str, str, dict[str, object], dict[str, str]]] = [
    ("user", "eve", {}, {"permission": "reserve", "user": "eve"}),
    ("group", "ops", {"owners": ["eve"], "members": ["eve"]}, {"permission": "reserve", "group": "ops"}),
]


@pytest.mark.parametrize(("kind", "name", "document", "entry"), GRANTED)
def test_policy__names_user_or_group_removed_at_the_same_time__not_for_the_next_of_that_name(
    town: Town, kind: str, name: str, document: dict[str, object], entry: dict[str, str]
) -> None:
    def granted() -> None:
        town.ask(change_system_policy, as_admin(), "a", [entry], None)
        town.ask(change_pool_policy, as_admin(), "net", [entry])

    with town.scene.apis[1].appended.preceded(granted):
        town.ask(remove_document, as_admin(), kind, name, process=1)
    town.ask(put_document, as_admin(), kind, name, document)
    assert town.state("system/a").access_policy == ()
    assert town.document_of("pool", "net")["access_policy"] == []


def test_system__owner_removed_at_the_same_time__not_for_the_next_of_that_name(town: Town) -> None:
    def given() -> None:
        town.ask(change_system, as_admin(), "a", NewSystemValues(owner="eve"), lambda _: None)
        town.ask(
            change_system, as_admin(), "a", NewSystemValues(condition="Broken", reason="x"), lambda _: None
        )

    # Not a system that people reserve, so the removal does not check it.
    ready = NewSystemValues(condition="Automated", reason="ready")
    town.ask(change_system, as_admin(), "a", ready, lambda _: None)
    with town.scene.apis[1].appended.preceded(given):
        town.ask(remove_document, as_admin(), "user", "eve", process=1)
    town.ask(put_document, as_admin(), "user", "eve", {})
    mended = NewSystemValues(condition="Manual", reason="mended")
    with pytest.raises(NotPermitted):
        may_change(town, "eve", "a", mended)
    town.ask(change_system, as_admin(), "a", NewSystemValues(owner="bob"), lambda _: None)
    town.ask(change_system, as_admin(), "a", NewSystemValues(owner="eve"), lambda _: None)
    may_change(town, "eve", "a", mended)


def in_group(town: Town) -> None:
    town.ask(put_document, as_admin(), "group", "ops", {"owners": ["root"], "members": ["eve"]})


def owns_pool(town: Town) -> None:
    town.ask(put_document, as_admin(), "pool", "net", {"owner_group": "ops"})


NAMED: list[tuple[str, str, dict[str, object], Callable[[Town], None], str]] = [
    ("user", "eve", {}, in_group, "group/ops"),
    ("group", "ops", {"owners": ["eve"], "members": []}, owns_pool, "pool/net"),
]


@pytest.mark.parametrize(("kind", "name", "document", "names_it", "left"), NAMED)
def test_name__given_a_place_in_the_moment_of_its_removal__begins_without_it(
    town: Town, kind: str, name: str, document: dict[str, object], names_it: Callable[[Town], None], left: str
) -> None:
    with town.scene.apis[1].appended.preceded(lambda: names_it(town)):
        town.ask(remove_document, as_admin(), kind, name, process=1)
    before = town.log.end()
    town.ask(put_document, as_admin(), kind, name, document)
    changed = f"{left.partition('/')[0]}.changed"
    assert town.since(before) == [(left, changed), (f"{kind}/{name}", f"{kind}.registered")]
    with pytest.raises((NotPermitted, FaultyInput)):
        town.ask(move_system, by("eve"), "net", "b", member=True)
