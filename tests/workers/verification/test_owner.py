"""Verification: changes by the owner of the database, and interruptions."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import orjson
import pytest

from api.watching.message import event_document
from domain.partition_numbers import DEFAULT_PARTITION
from store.event_log import EventLog
from tests.harness.databases import TestDatabase
from tests.harness.sessions import Owner
from tests.harness.waiting import wait_until
from tests.workers.verification.command import different, found
from tests.workers.verification.labs import lab
from tests.workers.verification.stored import store
from workers.verification.verify import AUDIT, DECISIONS

REPLACE = """
UPDATE log.events SET state = convert_to(replace(convert_from(state, 'UTF8'), '{old}', '{new}'), 'UTF8')
WHERE topic = '{topic}'
"""
ANOTHER_ACTOR = REPLACE.format(topic="recipe.new", old='"actor":"test"', new='"actor":"eve"')
ANOTHER_TEXT = REPLACE.format(topic="recipe.new", old='"whiteboard":""', new='"whiteboard":"mine"')
NO_END = """
DELETE FROM log.events WHERE commit_end = (SELECT max(commit_end) FROM log.events)
"""
STATES = "SELECT string_agg(convert_from(state, 'UTF8'), '') FROM log.events"
ANOTHER_SYSTEM = REPLACE.format(topic="recipe.scheduled", old='"system":"a"', new='"system":"b"')


def changed(owner: Owner, *statements: str) -> None:
    """Execute the statements without the trigger, which the owner may disable."""
    owner.execute("ALTER TABLE log.events DISABLE TRIGGER append_only")
    for statement in statements:
        assert owner.execute(statement.encode()).rowcount
    owner.execute("ALTER TABLE log.events ENABLE TRIGGER append_only")


def test_verify__owner_changed_an_actor_a_text_and_cut_off_the_end__notices_nothing(
    database: TestDatabase, owner: Owner
) -> None:
    store(database, lab().log)
    changed(owner, ANOTHER_ACTOR, ANOTHER_TEXT, NO_END)
    (states,) = owner.execute(STATES).fetchone() or ("",)
    assert '"actor":"eve"' in states and '"whiteboard":"mine"' in states
    answer = found(database, status=0)
    assert (different(answer), answer["audit"]["broken"]) == ([0, 0], 0)


def test_verify__owner_changed_a_decision__is_noticed(database: TestDatabase, owner: Owner) -> None:
    store(database, lab().log)
    changed(owner, ANOTHER_SYSTEM)
    answer = found(database, status=1)
    assert different(answer) == [1, 1] or answer["audit"]["broken"]


NAMES = {DEFAULT_PARTITION.number: DEFAULT_PARTITION.name}


def copy_of_log(database: TestDatabase) -> list[bytes]:
    """Return the lines of `labledger events --json`."""
    with closing(EventLog(database.service_url, pool_size=1)) as log:
        found, _ = log.select(0, log.end(), 1_000)
    return [orjson.dumps(event_document(recorded, NAMES), option=orjson.OPT_UTC_Z) for recorded in found]


@pytest.mark.parametrize("change", [ANOTHER_SYSTEM, ANOTHER_ACTOR, ANOTHER_TEXT, NO_END])
def test_copy_of_the_log__owner_changed_the_log__differs(
    database: TestDatabase, owner: Owner, change: str
) -> None:
    store(database, lab().log)
    kept = copy_of_log(database)
    assert copy_of_log(database) == kept
    changed(owner, change)
    assert copy_of_log(database)[: len(kept)] != kept


def parts_of(pid: int) -> list[int]:
    """Return the children that have begun their work, of the three."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text("utf-8").split()
    commands = {int(child): Path(f"/proc/{child}/cmdline").read_bytes() for child in children}
    return [child for child, command in commands.items() if b"workers.verification.child" in command]


def test_verify__interrupted_while_its_parts_begin__reaches_it_alone_and_nothing_is_left(
    database: TestDatabase,
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "cli", "replay", "verify"],
        env={**os.environ, "LABLEDGER_DATABASE_URL": database.service_url},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    parts = wait_until(lambda: found if len(found := parts_of(process.pid)) == 3 else [])
    assert process.pid not in map(os.getpgid, parts)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in said
    wait_until(lambda: not any(Path(f"/proc/{part}").exists() for part in parts))


@pytest.mark.parametrize("part", [DECISIONS, AUDIT])
def test_part__its_command_is_gone__ends_without_a_word(database: TestDatabase, part: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "workers.verification.child", part, "0"],
        env={**os.environ, "LABLEDGER_DATABASE_URL": database.service_url},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.close()
    _, said = process.communicate(timeout=30)
    assert (process.returncode, said) == (1, b"")
