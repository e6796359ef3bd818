"""The command that rebuilds, also while events come."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from pathlib import Path
from threading import Event as Flag
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner, Result

from api import database_setup
from cli import main
from cli.terminal.progress import progress_bar
from runtime.embedded.database import EmbeddedDatabase
from runtime.settings import Settings
from store.datastore import connect
from store.event_log import EventLog
from tests.harness.databases import TestDatabase
from tests.harness.folders import public_folder
from tests.harness.programs import program
from tests.harness.sessions import Owner
from tests.harness.waiting import wait_until
from tests.projections.copies import copies, left_over, unchanged
from tests.projections.projected_log import ProjectedLog
from tests.projections.rebuild.repeating import repeat
from tests.projections.rebuild.silent import silent
from tests.workers.lab import equip, submit_jobs
from tests.workers.read_models import forget, position, project_undisturbed
from workers.rebuild import rebuild


def typed(*arguments: str, **environment: str) -> Result:
    names = ("LABLEDGER_DATABASE_URL", "LABLEDGER_OWNER_DATABASE_URL", "LABLEDGER_DATA")
    env = dict.fromkeys(names) | environment
    return CliRunner(env=env).invoke(main, ["replay", "rebuild", *arguments])


def of(database: TestDatabase) -> dict[str, str]:
    return {
        "LABLEDGER_DATABASE_URL": database.service_url,
        "LABLEDGER_OWNER_DATABASE_URL": database.owner_url,
    }


def test_command__plain__reports_the_position(
    story: ProjectedLog, database: TestDatabase, owner: Owner
) -> None:
    with unchanged(owner):
        done = typed(**of(database))
    end = story.log.end()
    assert (done.exit_code, done.output) == (
        0,
        f"rebuilt the read models from the log up to position {end}\n",
    )
    assert json.loads(typed("--json", **of(database)).output) == {"position": end}


def test_command__check_without_differences__reports_it(story: ProjectedLog, database: TestDatabase) -> None:
    done = typed("--check", **of(database))
    assert (done.exit_code, done.stderr) == (0, "")
    assert "match the log" in done.output
    document = {"position": story.log.end(), "differences": []}
    assert json.loads(typed("--check", "--json", **of(database)).output) == document


def test_command__check_with_differences__exit_status_1_and_each_difference(
    story: ProjectedLog, database: TestDatabase, owner: Owner
) -> None:
    owner.execute("UPDATE read.recipes SET reason = 'x' WHERE recipe_id = 3 AND reason = 'watchdog'")
    owner.execute("DELETE FROM read.job_documents WHERE job_id = 1")
    owner.execute("INSERT INTO read.idle_pool VALUES ('nobody', 'lab-1', 1, now())")
    done = typed("--check", **of(database))
    assert done.exit_code == 1
    idle, job, recipe, summary = done.output.splitlines()
    assert idle.startswith("idle_pool fqdn=nobody since_position=1: unexpected, is {")
    assert job.startswith("job_documents job_id=1: missing, expected {")
    assert recipe.startswith("recipes recipe_id=3 since_position=")
    assert recipe.endswith(': reason is "x", expected "watchdog"')
    assert "in idle_pool, job_documents, recipes" in summary

    document = json.loads(typed("--check", "--json", **of(database)).output)
    first, *_, last = document["differences"]
    assert (first["table"], first["key"]["fqdn"], first["fresh"]) == ("idle_pool", "nobody", None)
    assert (last["live"]["reason"], last["fresh"]["reason"]) == ("x", "watchdog")


def test_command__database_away__one_line(database: TestDatabase) -> None:
    nowhere = urlsplit(database.owner_url)._replace(path="/nothing").geturl()
    done = typed(LABLEDGER_OWNER_DATABASE_URL=nowhere)
    assert done.exit_code == 1
    assert "nothing" in done.output and "Traceback" not in done.output


def test_command__no_database__advice(tmp_path: Path) -> None:
    done = typed("--data", str(tmp_path))
    assert done.exit_code == 1
    assert str(tmp_path) in done.output and "LABLEDGER_OWNER_DATABASE_URL" in done.output


@pytest.fixture
def data() -> Iterator[Path]:
    """Yield a data folder of `labledger up` with a running database."""
    with public_folder() as folder:
        embedded = EmbeddedDatabase(folder)
        try:
            database_setup.migrate(embedded.start(Settings.read({}, data=folder)))
            yield folder
        finally:
            embedded.stop()


def test_command__data_folder__uses_its_database(data: Path) -> None:
    assert json.loads(typed("--data", str(data), "--json").output) == {"position": 0}
    assert json.loads(typed("--check", "--json", LABLEDGER_DATA=str(data)).output)["differences"] == []


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_progress__terminal__is_a_bar_on_standard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", Terminal())
    with progress_bar() as on_progress:
        on_progress(1_000, 4_000)
    assert isinstance(sys.stderr, Terminal)
    assert "1000/4000" in sys.stderr.getvalue()


def test_progress__not_a_terminal__is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar() as on_progress:
        on_progress(1_000, 4_000)
    assert capsys.readouterr() == ("", "")


# One statement reads one snapshot; `at` is the highest position that the reader has seen.
SEEN = """
SELECT (SELECT count(*) FROM read.job_documents WHERE since_position <= %(at)s),
       (SELECT count(*) FROM read.recipes WHERE since_position <= %(at)s AND until_position > %(at)s),
       (SELECT count(*) FROM read.queue WHERE since_position <= %(at)s AND until_position > %(at)s),
       (SELECT count(*) FROM log.events WHERE topic = 'job.submitted' AND notification_id <= %(at)s)
"""
REBUILDS = 4


@pytest.fixture
def log(log: EventLog) -> EventLog:
    equip(log, systems=5)
    submit_jobs(log, 100)
    return log


def test_rebuild__events_come_and_a_projector_runs__no_event_lost_or_doubled_and_readers_undisturbed(
    log: EventLog, database: TestDatabase, owner: Owner
) -> None:
    done = Flag()
    with (
        program("cli", "projector", LABLEDGER_DATABASE_URL=database.service_url) as projector,
        ThreadPoolExecutor(2) as pool,
    ):
        wait_until(lambda: position(owner))
        writing = pool.submit(repeat, lambda: submit_jobs(log, 1), done)
        reading = pool.submit(read_steadily, database.service_url, done)
        try:
            reached = [rebuild(database.owner_url, silent) for _ in range(REBUILDS)]
        finally:
            done.set()
        assert writing.result(20) > 10
        assert reading.result(20) > 10
        wait_until(lambda: position(owner) == log.end())
        assert projector.poll() is None
    assert reached == sorted(set(reached)), "each began later, at a higher position"
    assert left_over(owner) == []
    assert_as_if_undisturbed(database, log, owner)


def read_steadily(url: str, done: Flag) -> int:
    """Read in one session, with prepared statements, as of the highest position seen."""
    with connect(url, prepare_threshold=0) as reader:
        at = 0

        def look() -> None:
            nonlocal at
            row = reader.execute("SELECT position FROM read.progress").fetchone()
            assert row is not None and row[0] >= at, "the read models never go back"
            at = row[0]
            found = reader.execute(SEEN, {"at": at}).fetchone()
            # Without a scheduler, the one recipe of each job stays in the queue.
            assert found is not None and len(set(found)) == 1

        return repeat(look, done)


def assert_as_if_undisturbed(database: TestDatabase, log: EventLog, owner: Owner) -> None:
    disturbed = copies(owner)
    forget(owner)
    project_undisturbed(database.service_url, log.end(), page_size=100)
    # The read models must equal those of an undisturbed projector.
    assert disturbed == copies(owner)
