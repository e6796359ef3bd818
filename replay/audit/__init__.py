"""Audit of a log: checks each commit against the rules of the design, independent of the scheduler's code.

`Audit` reads a log in one pass and yields violations. `at_rest` checks the end of a log, provided that
nothing is left to decide. A log without violations is not proven correct.
"""

from replay.audit.audit import Audit, at_rest, check
from replay.audit.invariant import Violation
from replay.audit.leaves import UnknownLeaf
from replay.audit.record import Commit, EventRecord, commits, from_json, from_recorded, from_row

__all__ = [
    "Audit",
    "Commit",
    "EventRecord",
    "UnknownLeaf",
    "Violation",
    "at_rest",
    "check",
    "commits",
    "from_json",
    "from_recorded",
    "from_row",
]
