"""Commands whose output pipe is closed, as by `head`, end quietly."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping

import pytest

from tests.harness.running import SAMPLES, Running

# The exit status of a program that SIGPIPE has ended.
UNREAD = 141


def ended(*arguments: str, environment: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Run a command without a reader, and return its exit status and standard error."""
    command = [sys.executable, "-m", "cli", *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        return process.wait(60), process.stderr.read()


@pytest.fixture(scope="module")
def job(service: Running) -> Iterator[str]:
    yield str(service.json("submit", str(SAMPLES / "pinned.xml"))["job_id"])


@pytest.mark.parametrize(
    "arguments",
    [
        *("events", "events --json", "events --follow", "jobs", "queue --json", "job JOB"),
        *("overview --watch", "watch JOB", "watch JOB --json", "completion bash"),
    ],
)
def test_command__output_pipe_closed__ends_quietly(service: Running, job: str, arguments: str) -> None:
    words = arguments.replace("JOB", job).split()
    assert ended(*words, environment=service.environment) == (UNREAD, "")


@pytest.mark.parametrize("arguments", ["--help", "--version"])
def test_help__output_pipe_closed__ends_quietly(arguments: str) -> None:
    assert ended(*arguments.split()) == (UNREAD, "")
