"""Reads a log and says where it breaks the rules of the design, sharing nothing with what wrote the log.

`check` goes through a log in one pass, `at_rest` asks what must hold when nothing is left to decide. Both
take plain records (`from_recorded`, `from_json`) and answer with violations; no violation is no proof.
"""

from tests.checker.check import assert_sound, check
from tests.checker.invariant import Violation
from tests.checker.record import Record, from_json, from_recorded
from tests.checker.requirement import UnknownLeaf
from tests.checker.rest import assert_at_rest, at_rest
from tests.checker.viable import CouldRun, could_run

__all__ = [
    "CouldRun",
    "Record",
    "UnknownLeaf",
    "Violation",
    "assert_at_rest",
    "assert_sound",
    "at_rest",
    "check",
    "could_run",
    "from_json",
    "from_recorded",
]
