"""The command `labledger replay verify`, run in a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from tests.harness.databases import TestDatabase


def run(database: TestDatabase, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cli", "replay", "verify", *arguments],
        env={**os.environ, "LABLEDGER_DATABASE_URL": database.service_url},
        capture_output=True,
        text=True,
        check=False,
    )


def verify(database: TestDatabase, *arguments: str, status: int) -> str:
    done = run(database, *arguments)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


def found(database: TestDatabase, *arguments: str, status: int) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(verify(database, "--json", *arguments, status=status))
    assert list(answer["hash_seeds"]) == ["1", "2"]
    return answer


def different(answer: dict[str, Any]) -> list[int]:
    """Return the number of differing decisions of each recomputation."""
    return [each["different"] for each in answer["hash_seeds"].values()]
