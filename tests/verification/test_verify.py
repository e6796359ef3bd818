"""`labledger replay verify` on a real log: what is sound is found so, what is planted is found."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from domain.scheduling.labs import Labs
from tests.domain.scheduling.history import first_by_hash, live
from tests.harness.databases import TestDatabase
from tests.replay.verify.queue_of_three import busy, with_queue_jump
from tests.verification.stored import store

SEEDS = ["1", "2"]


def verify(database: TestDatabase, *arguments: str, status: int) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "api.cli", "replay", "verify", *arguments],
        env={**os.environ, "LABLEDGER_DATABASE_URL": database.service_url},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


def answers(database: TestDatabase, status: int) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(verify(database, "--json", status=status))["hash_seeds"]
    assert list(found) == SEEDS
    return found


def test_verify__sound_log__every_decision_is_made_again_under_both_hash_seeds(
    database: TestDatabase,
) -> None:
    log = live(seed=3, bursts=30, limit=3).log
    store(database, log)
    made = len({(row.commit_end, row.stamp.number) for row in log if row.stamp.basis})
    for answer in answers(database, status=0).values():
        assert (answer["decisions"], answer["different"], answer["position"]) == (made, 0, len(log))
    assert f"{made} decisions in" in verify(database, status=0)


def test_verify__empty_log__has_nothing_to_say_against(database: TestDatabase) -> None:
    assert "0 decisions" in verify(database, status=0)


def test_verify__planted_queue_jump__is_shown_whole(database: TestDatabase) -> None:
    store(database, with_queue_jump(busy().log))
    text = verify(database, status=1)
    recorded, demanded = text.split("demanded", 1)
    assert "recipe/4 recipe.scheduled {'system': 'a'" in recorded
    assert "recipe/3 recipe.scheduled {'system': 'a'" in demanded
    assert "1 otherwise than the policy demands" in text


def test_verify__scheduler_that_chose_by_hash__is_caught(
    database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as planted:
        planted.setattr(Labs, "first_by_name", first_by_hash)
        store(database, live(seed=1, bursts=40, limit=500).log)
    assert all(answer["different"] for answer in answers(database, status=1).values())


def test_verify__database_away__says_so(database: TestDatabase) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "api.cli", "replay", "verify"],
        env={**os.environ, "LABLEDGER_DATABASE_URL": "postgresql://127.0.0.1:1/nobody"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
