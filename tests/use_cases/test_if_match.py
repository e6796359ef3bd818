"""A request with If-Match changes only the version that it names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from api.use_cases.change_partition import configure_partition, put_job_filter, remove_job_filter
from api.use_cases.change_system import NewSystemValues, change_system
from api.use_cases.move_system import move_system
from api.use_cases.ports import RequestContext
from api.use_cases.put_document import change_lab_controller, put_document
from api.use_cases.reserve_system import ReservationRequest, reserve_system, return_system
from api.use_cases.tokens import revoke_token
from domain.admission.configuration import Configuration, LimitSection
from domain.admission.job_filters import JobFilter
from domain.directory.events import PartitionJobFilterPut, TokenCreated
from domain.directory.partitions import DEFAULT, PARTITION
from domain.errors import NotPermitted, Stale, display_subject
from store.requests import Committed
from tests.use_cases.town import LAB, Town, as_admin, by

Act = Callable[[Town, RequestContext, int], Committed | None]


def anybody(_: object) -> None:
    """Permit the change: these tests are not about permissions."""


def drains(town: Town, request: RequestContext, process: int) -> Committed | None:
    change = NewSystemValues(draining=True, reason=f"process {process}")
    return town.ask(change_system, request, "a", change, anybody, process=process)


def describes(town: Town, request: RequestContext, process: int) -> Committed | None:
    change = NewSystemValues(properties={"memory_mb": process})
    return town.ask(change_system, request, "a", change, anybody, process=process)


def reserves(town: Town, request: RequestContext, process: int) -> Committed | None:
    return town.ask(reserve_system, request, "a", ReservationRequest("eve", None, None), process=process)


def returns(town: Town, request: RequestContext, process: int) -> Committed | None:
    return town.ask(return_system, request, "a", process=process)


def regroups(town: Town, request: RequestContext, process: int) -> Committed | None:
    document = {"owners": ["ada"], "members": [("eve", "root")[process]]}
    return town.ask(put_document, request, "group", "qa", document, process=process)


def moves_in(town: Town, request: RequestContext, process: int) -> Committed | None:
    return town.ask(move_system, request, "net", "b", member=True, process=process)


def disables(town: Town, request: RequestContext, process: int) -> Committed | None:
    return town.ask(change_lab_controller, request, LAB, {"enabled": False}, process=process)


def revokes(town: Town, request: RequestContext, process: int) -> Committed | None:
    return town.ask(revoke_token, request, "bob", process=process)


def configures(town: Town, request: RequestContext, process: int) -> Committed | None:
    return town.ask(configure_partition, request, DEFAULT, LIMITED[process], process=process)


def puts_rule(town: Town, request: RequestContext, process: int) -> Committed | None:
    rule = JobFilter("rule", process, 0, None, "CONTINUE")
    _, done = town.ask(put_job_filter, request, DEFAULT, rule, process=process)
    return done


def removes_rule(town: Town, request: RequestContext, process: int) -> Committed | None:
    return town.ask(remove_job_filter, request, DEFAULT, "old rule", process=process)


LIMITED = [Configuration(limits=LimitSection(process)) for process in range(2)]
# subject, change
ACTS: list[tuple[str, Act]] = [
    ("system/a", drains),
    ("system/a", describes),
    ("system/a", reserves),
    ("group/qa", regroups),
    ("pool/net", moves_in),
    (f"lab-controller/{LAB}", disables),
    ("token/bob", revokes),
    (PARTITION, configures),
    (PARTITION, puts_rule),
    (PARTITION, removes_rule),
]


@pytest.fixture(autouse=True)
def _bobs_token(town: Town) -> None:
    rule = PartitionJobFilterPut("old rule", {"action": "CONTINUE", "watermark": 0})
    token = TokenCreated("bob", "submitter", None, "d-bob")
    town.scene.put([("token/bob", token), (PARTITION, rule)])


@pytest.mark.parametrize(("subject", "act"), ACTS)
def test_if_match__of_two_with_the_same__one_wins_and_the_other_is_stale(
    town: Town, subject: str, act: Act
) -> None:
    request = as_admin(expected=frozenset({town.version(subject)}))
    won: list[Committed | None] = []
    between = town.scene.apis[1].appended.preceded(lambda: won.append(act(town, request, 0)))
    with between, pytest.raises(Stale, match=display_subject(subject)):
        act(town, request, 1)
    assert isinstance(won[0], Committed)


@pytest.mark.parametrize(("subject", "act"), ACTS)
def test_if_match__stale_and_nothing_would_change__is_stale_all_the_same(
    town: Town, subject: str, act: Act
) -> None:
    stale = as_admin(expected=frozenset({town.version(subject)}))
    assert act(town, as_admin(), 1) is not None
    with pytest.raises(Stale):
        act(town, stale, 1)
    # A request that names the present version changes nothing.
    now = as_admin(expected=frozenset({99, town.version(subject)}))
    assert act(town, now, 1) is None


def test_if_match__another_process_has_just_changed_it__is_not_taken_for_the_old_version(town: Town) -> None:
    """The directory of this process may not have the change yet."""
    assert regroups(town, as_admin(), 0) is not None
    fresh = as_admin(expected=frozenset({town.version("group/qa")}))
    assert regroups(town, fresh, 1) is not None


def test_if_match__on_something_new__is_stale(town: Town) -> None:
    document: dict[str, Any] = {"owners": [], "members": []}
    with pytest.raises(Stale):
        town.ask(put_document, as_admin(expected=frozenset({1})), "group", "new", document)


def test_if_match__named_nothing_that_a_version_could_be__is_stale(town: Town) -> None:
    with pytest.raises(Stale):
        drains(town, as_admin(expected=frozenset()), 0)


def test_return__stale__keeps_the_reservation(town: Town) -> None:
    assert reserves(town, as_admin(), 0) is not None
    with pytest.raises(Stale):
        returns(town, as_admin(expected=frozenset({1})), 0)
    with pytest.raises(NotPermitted):
        returns(town, by("bob", expected=frozenset({town.version("system/a")})), 0)
    assert returns(town, as_admin(), 1) is not None
