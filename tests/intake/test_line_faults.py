"""Faults of several lines, as one fault."""

from __future__ import annotations

import pytest

from api.intake.line_faults import grouped, line_fault


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
