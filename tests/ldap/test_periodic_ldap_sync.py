"""The report of a periodic LDAP sync."""

from __future__ import annotations

import logging

import pytest

from api.periodic_ldap_sync import report
from domain.directory.ldap_sync_plan import SyncPlan


def test_report__things_that_an_admin_has_to_put_right__are_warnings(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.INFO):
        report(SyncPlan((), (), (), ("ada",), ("a b",), (), ("nothere",), ("absent",), 1))
    assert {record.levelname for record in caplog.records} == {"WARNING"}
    assert [record.message.rpartition(": ")[2] for record in caplog.records] == [
        *("ada", "a b", "nothere", "absent"),
    ]
    caplog.clear()
    with caplog.at_level(logging.INFO):
        report(SyncPlan(("zoe",), (), (), (), (), (), (), (), 1))
    assert [record.levelname for record in caplog.records] == ["INFO"]
