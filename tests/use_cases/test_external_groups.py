"""Memberships that follow from external groups, by the group table."""

from __future__ import annotations

import logging

import pytest

from api.use_cases.external_groups import report_missing_groups, set_memberships
from api.use_cases.ports import RequestContext
from domain.directory.actors import SIGN_IN
from domain.errors import Unknown
from store.requests import Committed
from tests.use_cases.town import Town

TABLE = {"kernel": ["qa", "ops"], "staff": ["ops", "absent"]}


def sets(town: Town, user: str, *external: str) -> Committed | None:
    request = RequestContext(SIGN_IN, "test")
    return town.ask(set_memberships, request, user, TABLE, frozenset(external))


def test_memberships__other_external_groups__change_in_one_commit_by_its_actor(town: Town) -> None:
    position = town.log.end()
    sets(town, "eve", "kernel", "unlisted")
    assert town.document_of("group", "qa") == {"owners": ["ada"], "members": ["bob", "eve"]}
    found, _ = town.log.select(position, town.log.end(), 10)
    assert [(each.subject, each.stamp.actor) for each in found] == [
        ("group/ops", SIGN_IN),
        ("group/qa", SIGN_IN),
    ]
    assert len({each.commit_end for each in found}) == 1
    sets(town, "eve")
    assert town.document_of("group", "qa")["members"] == ["bob"]
    assert "eve" not in town.document_of("group", "ops")["members"]


def test_memberships__already_right__append_nothing(town: Town) -> None:
    sets(town, "bob", "kernel")
    position = town.log.end()
    assert sets(town, "bob", "kernel") is None
    assert town.log.end() == position


def test_memberships__owner_of_a_group_without_the_external_group__stays_its_owner(town: Town) -> None:
    sets(town, "ada")
    assert town.document_of("group", "qa")["owners"] == ["ada"]


def test_memberships__group_of_the_table_missing__is_reported_and_not_created(
    town: Town, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        sets(town, "eve", "staff")
    assert "eve" in town.document_of("group", "ops")["members"]
    assert town.document_of("group", "absent") is None
    assert "puts eve into groups that do not exist: absent" in caplog.text


def test_group_table__group_missing_at_the_start__is_logged(
    town: Town, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        report_missing_groups(town.services(), {"kernel": ["qa"]})
        assert not caplog.text
        report_missing_groups(town.services(), TABLE)
    assert "names groups that do not exist: absent" in caplog.text


def test_memberships__no_such_user__are_refused(town: Town) -> None:
    with pytest.raises(Unknown):
        sets(town, "nobody", "kernel")
