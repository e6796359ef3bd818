"""`labledger submit` with many files: one request, an answer for each file, faults under its name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli.jobs.job_files import JSON, XML, JobFile, batches
from tests.harness.waiting import wait_until

Run = Callable[..., Any]

GOOD = "<job open='true'/>\n"
MISSPELT = "<job>\n  <whitebord/>\n</job>\n"


@pytest.fixture
def files(tmp_path: Path) -> Callable[..., list[str]]:
    def write(**texts: str) -> list[str]:
        paths = [(tmp_path / f"{name}.xml", text) for name, text in texts.items()]
        for path, text in paths:
            path.write_text(text, encoding="utf-8")
        return [str(path) for path, _ in paths]

    return write


def jobs_with(real: Run, whiteboard: str) -> list[Any]:
    found: list[Any] = json.loads(real("jobs", "--all", "--whiteboard", whiteboard, "--json").stdout)["jobs"]
    return found


def command_of(real: Run, job: dict[str, Any]) -> str:
    """Return the cause of a submission: the command of its request."""
    line, *_ = real("events", "--subject", f"job/{job['job_id']}", "--json").stdout.splitlines()
    return str(json.loads(line)["cause"])


def test_submit__one_of_many_files_is_bad__submits_the_others_and_names_it(real: Run, files: Any) -> None:
    first, bad, second = files(first=GOOD, bad=MISSPELT, second=GOOD)
    result = real("submit", first, bad, second)
    assert result.exit_code == 1
    names = [line.partition(": job ")[0] for line in result.stdout.splitlines()]
    assert names == [first, second] and result.stdout.count(" submitted: no recipe sets") == 2
    assert f"{bad}" in result.stderr and "line 2, column 3: whitebord" in result.stderr
    assert "jobs[" not in result.output


def test_submit__together_with_a_bad_file__submits_none(real: Run, files: Any) -> None:
    good = "<job open='true'><whiteboard>all or none</whiteboard></job>"
    first, bad, second = files(first=good, bad=MISSPELT, second=good)
    refused = real("submit", "--together", first, bad, second)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert f"{bad}: line 2, column 3: whitebord" in refused.stderr
    made = [
        json.loads(line) for line in real("submit", "--together", "--json", first, second).stdout.splitlines()
    ]
    assert [job["file"] for job in made] == [first, second]
    assert len({command_of(real, job) for job in made}) == 1
    wait_until(lambda: jobs_with(real, "all or none"), "the read models to have the jobs")
    assert {job["job_id"] for job in jobs_with(real, "all or none")} == {job["job_id"] for job in made}


def test_submit__together_with_a_list__says_that_it_goes_alone(real: Run, files: Any, tmp_path: Path) -> None:
    several = tmp_path / "several.json"
    several.write_text('{"jobs": [{"open": true}]}', encoding="utf-8")
    result = real("submit", "--together", *files(first=GOOD), str(several))
    assert result.exit_code == 2 and "submit it in a command of its own" in result.stderr


def test_batches__of_many_files__are_within_the_bounds_of_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cli.jobs.job_files.MAX_JOBS", 3)
    monkeypatch.setattr("cli.jobs.job_files.MAX_TEXT_BYTES", 10)
    alone = JobFile("list", b'{"jobs": []}', JSON, {})
    small, large, latin = (JobFile("", text, XML, {}) for text in (b"12", b"1234567", b"\xff"))
    found = [*batches([small, small, small, small, alone, small, large, large, latin, small])]
    assert found == [[small] * 3, [small], [alone], [small, large], [large], [latin], [small]]
