"""The samples in the package."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from click.testing import Result

from cli.jobs.sample import SAMPLES
from tests.harness.running import SAMPLES as FILES

Run = Callable[..., Result]


@pytest.mark.parametrize("name", SAMPLES)
def test_sample__any__is_the_file_of_the_package(run: Run, name: str) -> None:
    (file,) = FILES.glob(f"{name}.*")
    assert run("sample", name).stdout.strip() == file.read_text("utf-8").strip()


def test_sample__every_sample__is_listed_by_the_help(run: Run) -> None:
    named = {file.stem for file in FILES.iterdir() if file.suffix in (".xml", ".json")}
    assert named == set(SAMPLES)
    shown = run("sample", "--help").stdout
    assert all(f"{name} " in shown for name in named)


def test_sample__piped_into_submit__is_a_job(real: Run) -> None:
    result = real("submit", "-", input=real("sample", "guests").stdout)
    assert result.exit_code == 0 and " submitted: recipe set" in result.stdout
