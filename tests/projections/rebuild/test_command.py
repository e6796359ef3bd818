"""Tests of `labledger replay rebuild` on the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner, Result

from api import database_setup
from cli import main
from cli.terminal.progress import progress_bar
from runtime.embedded.database import EmbeddedDatabase
from runtime.settings import Settings
from tests.harness.databases import TestDatabase
from tests.harness.folders import public_folder
from tests.harness.sessions import Owner
from tests.projections.copies import unchanged
from tests.projections.projected_log import ProjectedLog


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
