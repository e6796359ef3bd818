"""Each case on a lab of a few systems: the figures are those of the case, whatever their values."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from bench import run
from bench.cases.crowded import equalise_priorities
from bench.cases.full_lab import LABS
from bench.measurements import in_milliseconds, percentile
from bench.outcome import Sizes
from replay.workload.generated_jobs import Fitting
from replay.workload.generated_lab import generate_lab
from replay.workload.generated_queue import all_at_work, generate_filters, generate_sets

SMALL = (
    "--systems",
    "40",
    "--queued",
    "200",
    "--filters",
    "150",
    "--seconds",
    "0.5",
    "--rate",
    "20",
    "--events",
    "3000",
)


@pytest.fixture
def fixed_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure the limits once: they are the same for every case, and take as long as a case."""
    limits = {
        "raw_insert_events_per_second": 70_000.0,
        "durable_insert_and_notify_ms": 0.5,
        "bare_falcon_requests_per_second": 5_000.0,
    }
    monkeypatch.setattr(run, "limits", lambda *_: limits)


def typed(case: str) -> dict[str, Any]:
    """Run the command, limits included."""
    command = [sys.executable, "-m", "cli", "bench", case, "--json", *SMALL]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LABLEDGER_")}
    done = subprocess.run(command, env=kept, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    outcome: dict[str, Any] = json.loads(done.stdout)
    assert outcome["case"] == case
    assert outcome["sizes"]["systems"] == 40
    assert outcome["limits"]["raw_insert_events_per_second"] > 0
    assert outcome["limits"]["durable_insert_and_notify_ms"] > 0
    assert outcome["limits"]["bare_falcon_requests_per_second"] > 0
    figures: dict[str, Any] = outcome["figures"]
    return figures


def measured(*cases: str, **sizes_of_test: Any) -> list[dict[str, Any]]:
    """Run cases on one database, as `bench all` does."""
    given = dict(zip((word.removeprefix("--") for word in SMALL[::2]), SMALL[1::2], strict=True))
    counts = {name: int(given[name]) for name in ("systems", "queued", "filters", "events")}
    sizes = Sizes(**counts, sets=None, rate=float(given["rate"]), seconds=float(given["seconds"]), seed=1)
    sizes = replace(sizes, **sizes_of_test)
    outcomes = list(run.run_together(cases, sizes))
    assert tuple(outcome.case for outcome in outcomes) == cases
    return [dict(outcome.figures) for outcome in outcomes]


@pytest.mark.soak
@pytest.mark.usefixtures("fixed_limits")
def test_saturated_and_verify__small_lab__every_system_is_given_away_once_and_rightly() -> None:
    saturated, verify = measured("saturated", "verify")
    assert saturated["allocations"] == saturated["systems_given_away"] == 40
    assert saturated["allocations_per_second"] > 0
    # Each waiting recipe was queued by one decision, each system allocated by another.
    assert verify["decisions"] >= 200 + 40
    assert verify["different"] == verify["rules_broken"] == 0


@pytest.mark.soak
def test_pending__small_lab__each_end_is_seen() -> None:
    figures = typed("pending")
    assert figures["ended"] == 10
    assert 0 < figures["allocated_again"] <= 10
    assert 0 < figures["p50_ms"] <= figures["p99_ms"] <= figures["max_ms"]


@pytest.mark.soak
@pytest.mark.usefixtures("fixed_limits")
def test_crowded__small_lab__each_phase_is_measured() -> None:
    (figures,) = measured("crowded")
    assert 0 < figures["alone_p50_ms"] <= figures["alone_p99_ms"]
    assert 0 < figures["crowded_p50_ms"] <= figures["crowded_p99_ms"]
    assert {f"{phase}_projectors_behind_seconds" for phase in ("alone", "crowded")} <= figures.keys()


def test_equalise_priorities__without_the_privilege__changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(which: int, who: int, priority: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "setpriority", refuse)
    cluster: Any = SimpleNamespace(pids=lambda: {"projector": os.getpid()})
    assert not equalise_priorities(cluster)


@pytest.mark.soak
@pytest.mark.usefixtures("fixed_limits")
def test_partitions__small_lab__both_give_their_systems_away_and_the_log_is_right() -> None:
    partitions, verify = measured("partitions", "verify")
    assert partitions["allocations"] == 40
    assert partitions["allocations_of_the_smaller_half"] > 0
    assert partitions["commits"] > 0
    assert partitions["reread_percent"] == 0
    assert partitions["cores_busy_percent"] > 0
    assert verify["different"] == verify["rules_broken"] == 0


@pytest.mark.soak
@pytest.mark.usefixtures("fixed_limits")
def test_submit__small_lab__jobs_are_there() -> None:
    (figures,) = measured("submit")
    assert figures["jobs"] > 0
    assert figures["largest_body_bytes"] <= 2_000
    # The account names all processes and sessions, and their sum.
    processes = "serve", "scheduler", "projector"
    named = {*processes, *(f"postgresql_{name}" for name in processes), "postgresql_others", "clients"}
    used = {name: figures[f"{name}_cpu_ms_per_job"] for name in named}
    assert used["serve"] > 0 and used["postgresql_serve"] > 0
    assert figures["all_cpu_ms_per_job"] == pytest.approx(sum(used.values()), abs=0.01)
    assert figures["commits_per_job"] > 1 and figures["wal_bytes_per_job"] > figures["largest_body_bytes"]


@pytest.mark.soak
@pytest.mark.usefixtures("fixed_limits")
def test_lifecycle__small_lab__every_recipe_is_completed() -> None:
    (figures,) = measured("lifecycle")
    assert figures["completed"] == figures["submitted"] > 0
    assert figures["recipes_per_second"] > 0


@pytest.mark.soak
@pytest.mark.usefixtures("fixed_limits")
def test_start_and_rebuild__short_log__cold_and_from_a_snapshot_and_all_of_it_is_folded() -> None:
    start, rebuild = measured("start", "rebuild")
    assert start["events"] >= 3000
    for begun in ("cold", "from_snapshot"):
        assert 0 < start[f"{begun}_allocation_seconds"] <= start[f"{begun}_seconds"] + 0.1
    assert start["peak_mb"] > 10
    assert rebuild["events"] >= 3000
    assert rebuild["events_per_second"] > 0


@pytest.mark.soak
@pytest.mark.usefixtures("fixed_limits")
def test_multihost__small_lab__nothing_is_held_for_ever() -> None:
    (figures,) = measured("multihost")
    assert figures["sets_started"] > 0
    assert figures["systems_held_for_ever"] == figures["systems_broken"] == 0
    assert figures["held_longer_than_needed_max_ms"] == 0


@pytest.mark.soak
@pytest.mark.usefixtures("fixed_limits")
def test_query__small_lab__every_resource_has_answered() -> None:
    (figures,) = measured("query")
    of_resources = [
        name for name in figures if name.endswith("_p99_ms") and not name.startswith(("worst", "results"))
    ]
    assert figures["reads"] >= 5 * len(of_resources) > 50
    assert figures["worst_resource_p99_ms"] == max(figures[name] for name in of_resources)


@pytest.mark.soak
@pytest.mark.usefixtures("fixed_limits")
def test_explanation__small_lab_with_policies__those_that_wait_and_those_that_are_placed_are_explained() -> (
    None
):
    (figures,) = measured("explanation")
    for of in ("", "placed_"):
        assert figures[f"{of}explained"] >= 5
    for of in ("", "placed_", "while_recipes_end_"):
        assert 0 < figures[f"{of}p50_ms"] <= figures[f"{of}p99_ms"] <= figures[f"{of}max_ms"]
    assert figures["first_answer_seconds"] > 0
    assert figures["explainer_peak_mb"] > 10


@pytest.mark.soak
@pytest.mark.usefixtures("fixed_limits")
def test_change__small_lab_with_policies__changed_systems_are_granted_each_time() -> None:
    (figures,) = measured("change")
    assert figures["systems_changed"] == 10
    for what in ("limit_raised", "filter_put", "filter_removed"):
        assert figures[f"{what}_seconds"] > 0
    assert figures["systems_registered"] == 40
    assert figures["registered_again_seconds"] > 0
    assert figures["registration_seconds"] > 0
    for what in ("policy", "inventory"):
        assert 5 <= figures[f"{what}_systems_given_away"] <= 10
        assert 0 < figures[f"{what}_last_given_away_seconds"] <= figures[f"{what}_seconds"]


@pytest.mark.soak
@pytest.mark.usefixtures("fixed_limits")
def test_saturated_and_verify__small_lab_with_locks__decisions_are_right() -> None:
    saturated, verify = measured("saturated", "verify", locks=5, profiles=20, job_filters=4, buckets=3)
    assert saturated["allocations"] > 0
    assert verify["different"] == verify["rules_broken"] == 0


@pytest.mark.soak
@pytest.mark.usefixtures("fixed_limits")
def test_locks__small_lab__each_end_lets_a_waiting_set_start() -> None:
    (figures,) = measured("locks", rate=8)
    assert figures["ended"] == figures["got_locks"] == 4
    assert figures["sets_waiting"] > figures["ended"]
    assert 0 < figures["p50_ms"] <= figures["p99_ms"] <= figures["max_ms"]


@pytest.mark.soak
@pytest.mark.usefixtures("fixed_limits")
def test_pages__small_lab__every_page_is_measured_and_viewers_see_changes() -> None:
    (figures,) = measured("pages")
    assert all(figures[f"{page}_p99_ms"] > 0 for page in ("home", "jobs", "job", "recipe", "why"))
    assert figures["changes_seen"] > 0
    assert figures["seen_p99_ms"] > 0
    assert figures["healthz_p99_ms"] > 0


@pytest.mark.soak
@pytest.mark.usefixtures("fixed_limits")
def test_recovery__small_lab__everything_comes_back_and_no_system_has_two_recipes() -> None:
    (figures,) = measured("recovery")
    for part in ("scheduler", "api", "api_worker", "postgresql"):
        assert 0 < figures[f"{part}_next_answer_seconds"] < 60
        assert 0 < figures[f"{part}_next_allocation_seconds"] < 60
    assert figures["systems_with_two_recipes"] == 0


@pytest.mark.parametrize(
    ("values", "expected"),
    [([1.0], (1, 1, 1)), ([float(n) for n in range(1, 101)], (50, 99, 100)), ([3.0, 1.0, 2.0], (2, 3, 3))],
)
def test_in_milliseconds__of_seconds__smallest_that_so_many_do_not_exceed(
    values: list[float], expected: tuple[int, ...]
) -> None:
    found = in_milliseconds([value / 1000 for value in values])
    assert (found["p50_ms"], found["p99_ms"], found["max_ms"]) == pytest.approx(expected)


def test_percentile__of_few__is_one_of_them() -> None:
    assert percentile([1.0, 2.0], 1) == 1.0


def test_filters__of_a_seed__differ_and_each_is_for_a_lab() -> None:
    lab = all_at_work(generate_lab(7, LABS, 50))
    filters = generate_filters(lab, 7, 60)
    assert filters == generate_filters(lab, 7, 60)
    assert len({repr(each.host_requires) for each in filters}) == 60
    assert {each.lab_controller for each in filters} <= set(Fitting(lab).by_lab)


def test_sets__of_a_seed__have_recipes_of_one_lab() -> None:
    lab = all_at_work(generate_lab(7, LABS, 50))
    filters = generate_filters(lab, 7, 60)
    of = {repr(each.recipe): each.lab_controller for each in filters}
    sets = generate_sets(filters, 7, (2, 3))
    for recipe_set in [next(sets) for _ in range(20)]:
        assert len({of[repr(recipe)] for recipe in recipe_set["recipes"]}) == 1
        assert 2 <= len(recipe_set["recipes"]) <= 3
