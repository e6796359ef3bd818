"""Changes of the log by the owner of the database, and their detection by `replay verify` or by a copy."""

from __future__ import annotations

from contextlib import closing

import orjson
import pytest

from api.watching.message import event_document
from store.event_log import EventLog
from tests.harness.databases import TestDatabase
from tests.harness.sessions import Owner
from tests.workers.verification.command import different, found
from tests.workers.verification.labs import lab
from tests.workers.verification.stored import store

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


def copy_of_log(database: TestDatabase) -> list[bytes]:
    """Return the lines of `labledger events --json`."""
    with closing(EventLog(database.service_url, pool_size=1)) as log:
        found, _ = log.select(0, log.end(), 1_000)
    return [orjson.dumps(event_document(recorded), option=orjson.OPT_UTC_Z) for recorded in found]


@pytest.mark.parametrize("change", [ANOTHER_SYSTEM, ANOTHER_ACTOR, ANOTHER_TEXT, NO_END])
def test_copy_of_the_log__owner_changed_the_log__differs(
    database: TestDatabase, owner: Owner, change: str
) -> None:
    store(database, lab().log)
    kept = copy_of_log(database)
    assert copy_of_log(database) == kept
    changed(owner, change)
    assert copy_of_log(database)[: len(kept)] != kept
