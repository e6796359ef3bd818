"""A lab controller reports more than it may: no report is lost or counts twice, and its lab is not delayed.

LABLEDGER_REPORTS is the number of reports (default: 1,000,000).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

from tests.harness.pool import ServerPool
from tests.harness.running import running
from tests.harness.sessions import owner_session
from tests.rest.actions import EAST
from tests.soak.flooded_lab import RECIPES, FloodedLab, Removal, flooded_lab, taken_by
from tests.soak.reporters import Offer

pytestmark = pytest.mark.soak

REPORTS = int(os.environ.get("LABLEDGER_REPORTS", "1000000"))
# The limit of the service. With the default, this test would take more than ten minutes.
ITEMS_PER_SECOND = 10_000
# More than the requests that one lab controller may have under way (LABLEDGER_MAX_REQUESTS_UNDER_WAY).
CLIENTS = 300
# Issue 18. The median of all removals counts, because anything else on the machine may delay a single one.
MAX_REMOVAL_SECONDS = 1.0
PAUSE_SECONDS = 3.0


@pytest.fixture
def lab(servers: ServerPool, tmp_path: Path) -> Iterator[FloodedLab]:
    with (
        servers.databases("embedded").fresh() as database,
        running(database, LABLEDGER_ITEMS_PER_SECOND=str(ITEMS_PER_SECOND)) as service,
        service.client() as admin,
        owner_session(database.owner_url) as owner,
    ):
        yield flooded_lab(service, admin, owner, tmp_path)


def test_reports__more_at_once_than_a_lab_may_send__each_counts_once_and_removals_take_a_second(
    lab: FloodedLab,
) -> None:
    offer = Offer(EAST, lab.tasks, REPORTS // RECIPES, CLIENTS)
    removals: list[Removal] = []
    began = time.monotonic()
    with lab.reporting(offer) as clients:
        for recipe_id in lab.movable:
            time.sleep(PAUSE_SECONDS)
            removal = lab.remove_system_of(recipe_id)
            if clients.poll() is not None:
                break
            removals.append(removal)
        taken = taken_by(clients)
    print(f"{offer.count} reports in {time.monotonic() - began:.0f} s, {taken.refused} messages refused")
    print(*removals, sep="\n")
    assert taken.refused, "no message was refused with 429"
    lab.check_counted(offer)
    assert removals, "all reports were taken before a system was removed"
    assert median(removal.answered for removal in removals) <= MAX_REMOVAL_SECONDS
    assert median(removal.decided for removal in removals) <= MAX_REMOVAL_SECONDS
    assert "0 violations" in lab.service.labledger("doctor")


def test_reports__clients_do_not_repeat_refused_ones__are_found_missing(lab: FloodedLab) -> None:
    offer = Offer(EAST, lab.tasks, rounds=200, clients=CLIENTS, repeats=False)
    with lab.reporting(offer) as clients:
        assert taken_by(clients).refused
    with pytest.raises(AssertionError):
        lab.check_counted(offer)
