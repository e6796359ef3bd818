"""Reads a log and says where it breaks the rules of the design, sharing nothing with what wrote the log.

`Audit` goes through a log in one pass, and says of its end what must hold when nothing is left to decide. It
answers with violations; no violation is no proof.
"""

from replay.audit.audit import Audit, at_rest, check
from replay.audit.invariant import Violation
from replay.audit.leaves import UnknownLeaf
from replay.audit.record import Commit, Record, commits, from_json, from_recorded, from_row

__all__ = [
    "Audit",
    "Commit",
    "Record",
    "UnknownLeaf",
    "Violation",
    "at_rest",
    "check",
    "commits",
    "from_json",
    "from_recorded",
    "from_row",
]
