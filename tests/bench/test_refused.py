"""Cases that the benchmark refuses, and how it fills a log."""

from __future__ import annotations

import re
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner

from bench.all_cases import run_all
from bench.cases.pending import TooSmall
from bench.jobs import JobReader
from bench.limits.database import EVENTS_OF_A_GRANT, of_grants
from bench.outcome import Sizes
from bench.run import CASES
from cli.service.bench import bench
from domain.directory.state import Directory
from store.mapper import EventMapper

SIZES = Sizes(systems=200, queued=1_000, filters=50, sets=None, rate=50, seconds=3, seed=1)


def said(*arguments: str) -> str:
    result = CliRunner().invoke(bench, arguments)
    assert result.exit_code == 2
    return result.output


@pytest.mark.parametrize("option", ["--rate", "--seconds"])
@pytest.mark.parametrize("number", ["nan", "inf", "0", "-1", "many"])
def test_bench__no_number_above_0__is_refused(option: str, number: str) -> None:
    assert f"Invalid value for '{option}'" in said("pending", option, number)


def test_bench__report_of_one_case__is_refused() -> None:
    assert "--report is only for `bench all`" in said("saturated", "--report", "there")


@pytest.mark.parametrize("given", [("--profiles", "3"), ("--aged",)])
def test_bench__profiles_without_locks__is_refused(given: tuple[str, ...]) -> None:
    assert "--profiles and --aged need --locks" in said("pending", *given)


def test_locks__fewer_networks_than_recipes_that_end__is_said_before_anything_is_measured() -> None:
    with pytest.raises(TooSmall, match=re.escape("200 systems (--systems) have only 20 networks")):
        CASES["locks"].require(SIZES)


def test_all__queue_too_short_at_its_shallowest__is_said_before_anything_is_measured(tmp_path: Path) -> None:
    with pytest.raises(
        TooSmall, match=re.escape("150 recipes are to end (50 a second, 3 s), but only 10 wait")
    ):
        run_all(SIZES, tmp_path)


def test_all__folder_cannot_be_written__is_said_before_anything_is_measured() -> None:
    with pytest.raises(OSError, match="/proc/report"):
        run_all(SIZES, Path("/proc/report"), runs=())


def recipe(memory_mb: int) -> dict[str, object]:
    asked = {"and": [{"element": "memory", "op": ">=", "value": str(memory_mb)}]}
    return {"host_requires": asked, "distro_requires": {}, "tasks": [{"name": "/t", "params": {"A": "1"}}]}


def test_job_reader__recipes_read_before__same_job_as_the_door_reads() -> None:
    reader = JobReader(Directory(), "admin")
    locks = {"network": {"Exclusive": ["b", "a"]}, "Node": "AllShared"}
    sets = [
        {"priority": "High", "recipes": [recipe(1), recipe(2)]},
        {"priority": "Low", "recipes": [recipe(2), {**recipe(1), "locks": locks}]},
        {"priority": "Low", "recipes": [{**recipe(2), "locks": locks}], "reasons": ["rate-limit:2:a"]},
    ]
    reader.job(sets[1:])
    assert reader.job(sets) == reader.parse(sets)


def test_rows_of_grants__several_commits__events_that_the_log_could_hold() -> None:
    first, second = of_grants(1, 2), of_grants(3, 2)
    mapper = EventMapper()
    read = [mapper.read(topic, state) for topic, state in zip(first[2], first[3], strict=True)]
    assert [event.TOPIC for event, _ in read[:EVENTS_OF_A_GRANT]] == [
        "recipe.scheduled",
        "system.scheduled",
        "recipe.waiting",
        "system.waiting",
    ]
    assert orjson.loads(first[3][0])["basis"] < first[4][0]
    keys = [(*key,) for rows in (first, second) for key in zip(rows[0], rows[1], strict=True)]
    assert len(keys) == len(set(keys))
    assert first[4] + second[4] == list(range(first[4][0], first[4][0] + 4 * EVENTS_OF_A_GRANT))
