"""A new user, group or pool with the name of a removed one inherits nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import orjson
import pytest

from api.use_cases.change_job import change_job
from api.use_cases.change_policy import change_pool_policy, change_system_policy
from api.use_cases.change_system import NewSystemValues, change_system
from api.use_cases.lend_system import lend_system
from api.use_cases.move_system import move_system
from api.use_cases.put_document import put_document
from api.use_cases.remove_document import remove_document
from api.use_cases.reserve_system import ReservationRequest, reserve_system, return_system
from api.use_cases.submit_job import submit_job
from api.use_cases.system_rights import require_may_change
from domain.access.policy import PolicyEntry
from domain.directory import events as directory_events
from domain.errors import FaultyInput, NotPermitted
from domain.job.spec import RecipeSetSpec
from domain.priority import Priority
from tests.random_histories.jobs import job, named, recipe
from tests.use_cases.town import Town, as_admin, by

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


def test_user__removed__what_they_reserved_is_returned_in_the_same_commit(town: Town) -> None:
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


def test_reservation_and_loan__of_who_went_without_them__are_not_their_namesakes(town: Town) -> None:
    town.ask(reserve_system, by("eve"), "a", KEPT)
    town.ask(lend_system, as_admin(), "b", "eve", None)
    # Older versions returned nothing at a removal.
    town.happens("user/eve", directory_events.UserRemoved())
    before = town.log.end()
    town.ask(put_document, as_admin(), "user", "eve", {})
    assert [topic for _, topic in town.since(before)] == [
        *("system.reservation-ended", "system.idle", "system.loan-ended", "user.registered")
    ]


def test_policies__of_systems_and_pools_name_who_is_removed__and_nobody_after_that(town: Town) -> None:
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
def test_policy__names_who_is_removed_in_that_moment__not_their_namesake(
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


def test_system__given_to_who_is_removed_in_that_moment__is_not_their_namesakes(town: Town) -> None:
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
