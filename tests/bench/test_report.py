"""The report of outcomes, and sizes that are refused."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench import capacity_check
from bench.all_cases import RUNS, CaseGroup, run_all
from bench.capacity_check import NoRoom, require_room
from bench.hold_times import hold_times_of
from bench.outcome import CaseOutcome, Sizes
from bench.picture import SHOWN_FIGURES
from bench.report import MISSED, REACHED, page
from bench.run import CASES
from bench.targets import EVENTS, FILTERS, QUEUED, SYSTEMS
from cli.service.bench import CASES as OFFERED
from cli.service.bench import show

FULL = Sizes(SYSTEMS, QUEUED, FILTERS, None, 50, 20, 1, EVENTS)


def pending(queued: int, p99_ms: float) -> CaseOutcome:
    figures = {"p50_ms": 2.0, "p99_ms": p99_ms}
    return CaseOutcome("pending", Sizes(SYSTEMS, queued, FILTERS, None, 50, 20, 1, EVENTS), figures)


def test_page__a_figure_short_of_its_target__is_marked() -> None:
    lines = list(page([pending(1_000, 15.0), pending(QUEUED, 21.0)]))
    (p50,) = (line for line in lines if line.startswith("| `pending` | p50_ms"))
    (p99,) = (line for line in lines if line.startswith("| `pending` | p99_ms"))
    (grown,) = (line for line in lines if "times that at" in line)
    assert MISSED not in p50
    assert MISSED in p99
    assert "1.4" in grown
    assert MISSED not in grown


def test_page__deepest_queue_in_target__grown_too_much_is_marked() -> None:
    lines = list(page([pending(1_000, 5.0), pending(QUEUED, 15.0)]))
    assert MISSED in next(line for line in lines if "times that at" in line)


def test_page__smaller_than_the_targets_are_said_of__nothing_is_reached() -> None:
    lines = list(page([pending(1_000, 5.0)]))
    assert not [line for line in lines if REACHED in line or MISSED in line]


def test_table__full_size__says_what_is_missed(capsys: pytest.CaptureFixture[str]) -> None:
    show(pending(QUEUED, 21.0))
    text = capsys.readouterr().out
    assert "at most 20: missed" in text
    assert "at most 5: missed" not in text


def test_table__other_sizes__no_target_is_spoken_of(capsys: pytest.CaptureFixture[str]) -> None:
    show(pending(200, 21.0))
    slow = pending(QUEUED, 21.0)
    show(replace(slow, sizes=replace(slow.sizes, rate=1.0)))
    assert "at most" not in capsys.readouterr().out


def missing(sizes: Sizes) -> str:
    """Return the message about missing memory and disk, empty if there is enough."""
    try:
        require_room(sizes)
    except NoRoom as short:
        return str(short)
    return ""


def test_room__more_than_any_machine_has__says_what_is_missing() -> None:
    said = missing(Sizes(10, 10**12, 10, None, 1, 1, 1, 10**12))
    assert re.search(r"MB of memory are needed, .* MB are available; .*of disk.*--queued", said)


@pytest.mark.parametrize(
    ("more_mb", "said"), [(1, ""), (-1, "about 801 MB of memory are needed, 799 MB are available. ")]
)
def test_room__a_little_more_and_a_little_less_than_the_smallest_needs__is_there_and_is_not(
    monkeypatch: pytest.MonkeyPatch, more_mb: int, said: str
) -> None:
    monkeypatch.setattr(capacity_check, "_available_mb", lambda: capacity_check.BASE_MB + more_mb)
    found = missing(Sizes(10, 10, 10, None, 1, 1, 1, 10))
    assert found.startswith(said) and bool(found) == bool(said)


def test_holding__set_of_two__held_from_its_first_grant_to_its_start() -> None:
    happened = [
        (1, "recipe/1", "recipe.scheduled", 1.0),
        (2, "recipe/3", "recipe.scheduled", 2.0),
        (1, "recipe/2", "recipe.scheduled", 4.0),
        (1, "recipe/1", "recipe.waiting", 4.0),
        (1, "recipe/2", "recipe.waiting", 4.0),
    ]
    found = hold_times_of(happened)
    assert found.held_seconds == [3.0, 0.0]
    assert found.late_seconds == [0.0]
    assert found.max_held == 2
    assert list(found.held) == ["recipe/3"]


def test_holding__start_after_the_last_grant__is_late() -> None:
    happened = [(1, "recipe/1", "recipe.scheduled", 1.0), (1, "recipe/1", "recipe.waiting", 1.5)]
    assert hold_times_of(happened).late_seconds == [0.5]


def test_holding__set_that_waits_for_its_locks__held_until_it_has_them_and_not_late() -> None:
    happened = [
        (1, "recipe/1", "recipe.scheduled", 1.0),
        (1, "recipe/2", "recipe.scheduled", 2.0),
        (1, "recipe/1", "recipe.waiting without locks", 2.0),
        (1, "recipe/2", "recipe.waiting without locks", 2.0),
        # The system of the second recipe breaks; the recipe gets another one.
        (1, "recipe/2", "recipe.assigned", 3.0),
        (1, "recipe/1", "recipe.scheduled", 3.0),
        (1, "recipe/2", "recipe.scheduled", 4.0),
        (1, "recipe/1", "recipe.waiting without locks", 4.0),
        (1, "recipe/2", "recipe.waiting without locks", 4.0),
        (1, "recipe/1", "recipe.locked", 9.0),
        (1, "recipe/2", "recipe.locked", 9.0),
    ]
    found = hold_times_of(happened)
    assert found.held_seconds == [1.0, 8.0, 5.0]
    assert found.late_seconds == [0.0, 0.0]
    assert found.started == {1} and not found.held


@pytest.mark.soak
def test_all__one_case__report_with_a_picture(tmp_path: Path) -> None:
    # The queue is so short that all depths are equal.
    sizes = Sizes(40, 1, 60, None, 10, 1, 1, 100)
    (outcome,) = run_all(sizes, tmp_path, runs=[CaseGroup(("saturated",), grows=True)])
    assert outcome.figures["allocations"] == 1
    assert "1 queued" in (tmp_path / "report.md").read_text()
    assert ElementTree.parse(tmp_path / "growth.svg").getroot().tag.endswith("svg")


def test_all__every_case_has_its_place__and_those_that_grow_are_in_the_picture() -> None:
    assert sorted(case for run in RUNS for case in run.cases) == sorted(CASES) == sorted(OFFERED)
    assert {case for run in RUNS if run.grows for case in run.cases} == set(SHOWN_FIGURES)
