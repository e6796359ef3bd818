"""`labledger doctor` over the read models and over the log of a lab that a scheduler has filled."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cli import main
from domain.system.events import SystemIdle
from projections.queue_usage import QueueUsage
from store.event_log import EventLog
from tests.harness.databases import TestDatabase
from tests.harness.sessions import Owner
from tests.workers.conftest import Start
from tests.workers.lab import put
from tests.workers.read_models import forget, project_undisturbed
from tests.workers.run_once import run_once

NOW = "until_position = 9223372036854775807"
CLAIMED = (
    "INSERT INTO read.claims (recipe_id, system, forced, since_position, since)"
    " SELECT recipe_id, {system}, true, since_position, since FROM read.recipes WHERE {recipes}"
)
PLACED = f"recipe_id IS NOT NULL AND {NOW}"


def said(used: int, held: int, below: int) -> str:
    systems = f"{used} systems are used, but its recipes hold {held}, and the queues below use {below}"
    return f"in partition 1, {systems}"


# A statement that breaks the read models, the law that it breaks, and what is said of it.
PLANTED = {
    "system in use by another recipe": (
        f"UPDATE read.system_usage SET recipe_id = 999 WHERE {PLACED}",
        "usage",
        "with recipe/999, which does not hold it",
    ),
    "queue with a system that its recipes do not hold": (
        f"UPDATE read.recipes SET state = 'queued', system = NULL WHERE system = 'host-00.lab' AND {NOW}",
        "usage",
        said(3, 2, 0),
    ),
    "jobs in another partition than their recipes": (
        "UPDATE read.job_documents SET partition = 2",
        "usage",
        said(0, 3, 0),
    ),
    "other usage than its recipe": (
        f"UPDATE read.system_usage SET usage = 'running' WHERE {PLACED}",
        "usage",
        "it is waiting on host-00.lab, which is running with recipe/",
    ),
    "in use without a recipe": (
        f"UPDATE read.system_usage SET recipe_id = NULL WHERE {PLACED}",
        "systems",
        "it is waiting without a recipe",
    ),
    "in use and reserved": (
        f"UPDATE read.systems SET reserved_by = 'ada' WHERE {NOW}",
        "systems",
        "it is reserved by ada and used by recipe/",
    ),
    "without a usage": ("DELETE FROM read.system_usage", "systems", "it has no usage"),
    "unknown system in use": ("DELETE FROM read.systems", "systems", "it has a usage, but is unknown"),
    "recipe on an unknown system": (
        "DELETE FROM read.systems",
        "orphans",
        "its system/host-00.lab is unknown",
    ),
    "unknown set": ("DELETE FROM read.recipe_sets", "orphans", "its recipe-set/"),
    "unknown job": ("DELETE FROM read.jobs", "orphans", "its job/"),
    "nothing known of a recipe": (
        "DELETE FROM read.recipe_details",
        "orphans",
        "nothing is known of its set and job",
    ),
    "claim of a recipe that has a system": (
        CLAIMED.format(system="system", recipes=f"system = 'host-00.lab' AND {NOW}"),
        "claims",
        "it claims host-00.lab, but is waiting",
    ),
    "system that two recipes claim": (
        CLAIMED.format(system="'host-00.lab'", recipes=f"state = 'queued' AND {NOW}"),
        "claims",
        "2 recipes claim it",
    ),
    "claim to an unknown system": (
        CLAIMED.format(system="'gone.lab'", recipes=f"state = 'queued' AND {NOW}"),
        "claims",
        "it is claimed, but unknown",
    ),
}


@pytest.fixture
def filled(log: EventLog, start: Start, database: TestDatabase) -> EventLog:
    """Return a log with three systems, which all have recipes, and two recipes that wait."""
    run_once(log, start, jobs=5)
    project_undisturbed(database.service_url, log.end(), page_size=100)
    return log


def typed(database: TestDatabase, *arguments: str) -> Result:
    env = {
        "LABLEDGER_DATABASE_URL": database.service_url,
        "LABLEDGER_OWNER_DATABASE_URL": database.owner_url,
        "LABLEDGER_DATA": None,
    }
    return CliRunner(env=env).invoke(main, ["doctor", *arguments])


def report(database: TestDatabase, *arguments: str) -> tuple[int, Any]:
    done = typed(database, "--json", *arguments)
    return done.exit_code, json.loads(done.stdout)


@pytest.mark.parametrize("arguments", [(), ("--log",)])
def test_doctor__sound_log__no_law_is_broken_at_any_moment(
    filled: EventLog, database: TestDatabase, arguments: tuple[str, ...]
) -> None:
    for position in (0, *range(1, filled.end(), 9), filled.end()):
        status, found = report(database, "--as-of", str(position), *arguments)
        assert (status, found["violations"]) == (0, []), position
        assert not any(found["laws"].values()) and found["position"] <= position


def test_doctor__read_models__systems_are_the_sum_of_their_uses(
    filled: EventLog, database: TestDatabase, owner: Owner
) -> None:
    status, found = report(database)
    uses = {"used": 3, "free": 0, "reserved": 0, "occupied": 0, "away": 0}
    assert (status, found["systems"]) == (0, {"systems": 3, **uses})
    (before,) = owner.execute("SELECT min(recorded_at) FROM log.events").fetchone() or ("",)
    assert report(database, "--as-of", before.isoformat())[1]["systems"]["used"] == 0
    last = typed(database).stdout.splitlines()[-2:]
    assert last == [
        "3 systems = 3 used + 0 free + 0 reserved + 0 occupied + 0 away",
        f"0 violations up to position {filled.end()}",
    ]


def test_doctor__planted_in_the_read_models__is_found(
    filled: EventLog, database: TestDatabase, owner: Owner
) -> None:
    for name, (statement, law, said) in PLANTED.items():
        owner.execute(statement.encode())
        done = typed(database)
        status, found = report(database)
        assert (done.exit_code, status) == (1, 1), name
        assert found["laws"][law] > 0, name
        assert said in "".join(each["what"] for each in found["violations"] if each["law"] == law), name
        assert f"{law}: " in done.stdout and said in done.stdout, name
        forget(owner)
        project_undisturbed(database.service_url, filled.end(), page_size=100)
        assert report(database)[0] == 0, name


def in_queues(owner: Owner) -> None:
    """Put the recipe on host-00 into root.k, and that on host-01 into root.k.net, with one that waits."""
    job_of = "SELECT d.job_id FROM read.recipe_details d JOIN read.{} u USING (recipe_id)"
    used, waiting = job_of.format("system_usage"), job_of.format("queue") + f" WHERE u.{NOW}"
    for queue, jobs in {
        "root.k": f"{used} WHERE u.fqdn = 'host-00.lab'",
        "root.k.net": f"{used} WHERE u.fqdn = 'host-01.lab' UNION SELECT min(j) FROM ({waiting}) w (j)",
    }.items():
        owner.execute(f"UPDATE read.job_documents SET queue = '{queue}' WHERE job_id IN ({jobs})".encode())


def queues_in(found: dict[str, Any]) -> dict[str, str]:
    return {each["subject"]: each["what"] for each in found["violations"] if "queue/" in each["subject"]}


def test_doctor__recipes_in_several_queues__each_queue_is_the_sum_of_its_own_and_those_below(
    filled: EventLog, database: TestDatabase, owner: Owner
) -> None:
    in_queues(owner)
    assert report(database)[0] == 0
    # The system of root.k is used by the recipe of root.k.net that waits.
    (waiting,) = owner.execute(
        "SELECT d.recipe_id FROM read.recipe_details d JOIN read.job_documents j USING (job_id)"
        " JOIN read.queue q USING (recipe_id)"
        " WHERE j.queue = 'root.k.net' AND q.until_position = 9223372036854775807"
    ).fetchone() or (0,)
    owner.execute(
        f"UPDATE read.system_usage SET recipe_id = {waiting} WHERE fqdn = 'host-00.lab' AND {PLACED}".encode()
    )
    assert queues_in(report(database)[1]) == {
        "queue/root.k": said(2, 1, 2),
        "queue/root.k.net": said(2, 1, 0),
    }


@pytest.mark.parametrize("queue", ["root", "root.k", "root.k.net"])
def test_doctor__one_system_too_many_in_the_sum_of_a_queue__is_found(
    filled: EventLog,
    database: TestDatabase,
    owner: Owner,
    monkeypatch: pytest.MonkeyPatch,
    queue: str,
) -> None:
    in_queues(owner)
    shown = QueueUsage.of

    def of(usage: QueueUsage, path: str) -> dict[str, int]:
        counts = shown(usage, path)
        return {**counts, "used": counts["used"] + (path == queue)}

    monkeypatch.setattr(QueueUsage, "of", of)
    status, found = report(database)
    assert (status, f"queue/{queue}" in queues_in(found)) == (1, True)


def test_doctor__planted_in_the_log__is_found_after_its_commit(
    filled: EventLog, database: TestDatabase
) -> None:
    sound, subject = filled.end(), "system/host-00.lab"
    put(filled, [(subject, SystemIdle())], after=len(filled.load({subject: 0})[subject]))
    status, found = report(database, "--log")
    assert (status, found["laws"]["usage"]) == (1, 2)
    assert [each["subject"] for each in found["violations"]] == [subject, "queue/root.default"]
    assert report(database, "--log", "--as-of", str(sound))[0] == 0
