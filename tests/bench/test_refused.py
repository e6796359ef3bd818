"""Sizes that cannot be measured are reported before anything is measured."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from bench.all_cases import run_all
from bench.cases.pending import TooSmall
from bench.outcome import Sizes
from cli.service.bench import bench

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


def test_all__queue_too_short_at_its_shallowest__is_said_before_anything_is_measured(tmp_path: Path) -> None:
    with pytest.raises(
        TooSmall, match=re.escape("150 recipes are to end (50 a second, 3 s), but only 10 wait")
    ):
        run_all(SIZES, tmp_path)


def test_all__folder_cannot_be_written__is_said_before_anything_is_measured() -> None:
    with pytest.raises(OSError, match="/proc/report"):
        run_all(SIZES, Path("/proc/report"), runs=())
