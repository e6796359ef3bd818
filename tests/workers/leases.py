"""The holder of the lease of the scheduler."""

from __future__ import annotations

from tests.harness.programs import Program
from tests.harness.sessions import Owner
from tests.harness.waiting import wait_until

HOLDER = b"SELECT holder FROM log.leases"


def holder(owner: Owner, among: list[Program]) -> Program | None:
    """Return the pid of the lease holder, which is part of its name."""
    row = owner.execute(HOLDER).fetchone()
    pid = int(row[0].rpartition("/")[2]) if row and row[0][-1].isdecimal() else None
    return next((process for process in among if process.pid == pid), None)


def awaited_holder(owner: Owner, among: list[Program]) -> Program:
    wait_until(lambda: holder(owner, among) is not None)
    found = holder(owner, among)
    assert found is not None
    return found
