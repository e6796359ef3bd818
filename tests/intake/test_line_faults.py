"""Faults of several lines, as one fault."""

from __future__ import annotations

import pickle

import pytest

from api.intake.beaker_csv import read_files
from api.intake.limits import MAX_FAULTS
from api.intake.line_faults import MAX_DIFFERENT, MAX_RUNS, GroupedFaults, grouped, line_fault


def test_faults__lines_out_of_order_and_repeated__are_ranges() -> None:
    (fault,) = grouped(line_fault("a.csv", line, "", "is wrong") for line in (5, 9, 7, 6, 9, 5))
    assert fault.where == "a.csv, lines 5-7, 9"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([7], "line 7"),
        ([7, 8], "lines 7, 8"),
        # Written as one: the file of a whole lab may lack the same object in each line.
        ([*range(2, 502)], "lines 2-501"),
        ([3, 5, 6, 7, 9], "lines 3, 5-7, 9"),
        ([*range(1, 30, 2)], "lines 1, 3, 5, 7, 9, 11, 13, 15, 17, 19 and 5 more"),
    ],
)
def test_faults__equal_on_several_lines__are_one_with_ranges(lines: list[int], said: str) -> None:
    (fault,) = grouped(line_fault("a.csv", line, "owner", "is wrong") for line in reversed(lines))
    assert (fault.where, fault.message) == (f"a.csv, {said}, column owner", "is wrong")


def test_faults__two_in_turns_in_hundreds_of_lines__all_lines_are_counted() -> None:
    lines = range(2, 2 * (MAX_RUNS + 500) + 2)
    found = grouped(line_fault("a.csv", line, "", "ab"[line % 2]) for line in lines)
    assert [fault.message for fault in found] == ["a", "b"]
    assert found[0].where == f"a.csv, lines 2, 4, 6, 8, 10, 12, 14, 16, 18, 20 and {MAX_RUNS + 490} more"


def test_faults__of_reading_and_later__are_sorted_together() -> None:
    found = read_files([("a.csv", "csv_type,fqdn\nsystem,\nsystem,\nsistem,a.b")])
    later = [line_fault("a.csv", 1, "owner", "is wrong"), line_fault("a.csv", 5, "fqdn", "must not be empty")]
    for _ in range(2):
        assert [fault.where for fault in grouped(later, found.faults)] == [
            "a.csv, line 1, column owner",
            "a.csv, lines 2, 3, 5, column fqdn",
            "a.csv, line 4, column csv_type",
        ]


def test_faults__different_in_each_line__are_kept_up_to_a_bound_and_counted() -> None:
    kept = GroupedFaults()
    for line in range(1, 50_001):
        kept.add(line_fault("a.csv", line, "owner", f"there is no user {line}"))
        kept.add(line_fault("a.csv", line, "pool", "is wrong"))
    assert len(pickle.dumps(kept)) < 100 * MAX_DIFFERENT
    *shown, more = kept.listed()
    assert len(shown) == MAX_FAULTS
    assert shown[1].where == "a.csv, lines 1-50000, column pool"
    assert (more.where, more.message) == ("body", f"and {50_000 + 1 - MAX_FAULTS} more")
