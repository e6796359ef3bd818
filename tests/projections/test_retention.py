"""Read models of jobs that are kept, and of deleted results."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import store
from domain.events import Event
from domain.job.events import (
    JobChanged,
    JobClosed,
    JobExtended,
    JobKeepEnded,
    JobKept,
    JobLogsExpired,
    JobOpened,
    JobResultsDeleted,
    JobSubmitted,
)
from domain.recipe.events import RecipeCancelled, RecipeCompleted, TaskResult
from domain.recipe.lifecycle import STARTED
from domain.recipe_set.events import RecipeSetSubmitted
from tests.harness.databases import TestDatabase
from tests.harness.sessions import Owner
from tests.projections.happened import LAB, host, lab, of, registered, running, scheduled, submitted, waiting
from tests.projections.projected_log import ProjectedLog
from tests.projections.rebuild.silent import silent
from workers.rebuild import check

LOG = {"name": "dmesg", "url": "http://lab/dmesg", "size_bytes": 7}
JOBS = b"SELECT job_id, since_position, retention_tag, ended FROM read.jobs ORDER BY 1, 2"
MIGRATION = Path(store.__file__).with_name("migrations") / "2027-01-09-retention.sql"
FIRST = {
    "after_ended": datetime(1970, 1, 1, tzinfo=UTC),
    "after_job": 0,
    "limit": 10,
    "started": list(STARTED),
    "with_sizes": True,
}


def run_job(models: ProjectedLog) -> int:
    """Commit a job that has ended, with a result of its first recipe; return the position of its end."""
    result = TaskResult(11, "Fail", "no console", 1.0, ("http://lab/x",), logs=(LOG,))
    models.commit(lab(), registered("a"))
    models.commit(*submitted(host(1), host(2)), *scheduled("a", 1))
    models.commit(*waiting("a", 1), *running("a", 1), *of("recipe", 1, result))
    ends = *of("recipe", 1, RecipeCompleted()), *of("recipe", 2, RecipeCancelled("enough"))
    return models.commit(*ends)[-1]


def results(models: ProjectedLog, **params: Any) -> list[str]:
    return [row["result"] for row in models.rows("results", job_id=1, recipe_id=None, **params)]


def due(models: ProjectedLog, days: int = 0, tags: Sequence[str] = ("scratch",), **params: Any) -> list[Any]:
    moment = datetime(2100, 1, 1, tzinfo=UTC)
    of_tags = {"tags": list(tags), "days": [days] * len(tags), "moment": moment}
    rows = models.rows("due_deletions", **{**of_tags, **FIRST, **params})
    return [row["job_id"] for row in rows]


@pytest.mark.parametrize("restarts", [False, True])
def test_deletion__results_of_the_job__are_gone_at_all_moments(models: ProjectedLog, restarts: bool) -> None:
    ended = run_job(models)
    assert results(models) == ["Fail"]
    if restarts:
        models.begin_again()
    models.commit(*of("job", 1, JobResultsDeleted("scratch", 30), JobLogsExpired(LAB)))
    assert (results(models), results(models, at=ended)) == ([], [])
    for of_it in ({"job_id": 1, "recipe_id": None}, {"job_id": None, "recipe_id": 2}):
        for at in (models.log.end(), ended):
            (deleted,) = [row["deleted"] for row in models.rows("deletion", **of_it, at=at)]
            assert (deleted["tag"], deleted["days"], deleted["position"]) == ("scratch", 30, ended + 1)
    job = models.row("job", job_id=1)
    assert (job["state"], job["result"]) == ("cancelled", "Fail"), "the states stay"
    (command,) = models.commands(LAB, unfinished=True)[-1:]
    shown = [command[name] for name in ("command_id", "kind", "system", "job_id", "recipe_ids")]
    assert shown == [ended + 2, "delete-logs", None, 1, [1]]
    assert due(models) == []


def test_deletion__in_the_page_of_the_result__deletes_it_too(
    models: ProjectedLog, database: TestDatabase
) -> None:
    models.commit(lab(), registered("a"))
    models.write(*submitted(host(1)), *of("recipe", 1, TaskResult(11, "Pass", "", None, ())))
    models.write(*of("recipe", 1, RecipeCancelled("enough")))
    models.write(*of("job", 1, JobResultsDeleted("scratch", 30)))
    models.project(models.unread())
    assert results(models) == []
    assert check(database.owner_url, silent, 10)[1] == []


def test_check__results_deleted_after_its_position__finds_nothing(
    models: ProjectedLog, database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The live tables go on while the check compares them."""
    from projections.rebuild.rebuild import Rebuild

    run_job(models)
    compare = Rebuild.differences

    def compare_later(rebuild: Rebuild, limit: int) -> Any:
        models.commit(*of("job", 1, JobResultsDeleted("scratch", 30)))
        return compare(rebuild, limit)

    monkeypatch.setattr(Rebuild, "differences", compare_later)
    assert check(database.owner_url, silent, 10)[1] == []
    assert results(models) == []


def test_due__tag_and_end_and_keep_of_a_job__decide(models: ProjectedLog) -> None:
    run_job(models)
    assert (due(models), due(models, days=1), due(models, tags=("60days",))) == ([1], [], [])
    names = ("result_count", "log_count", "log_bytes", "lab_controllers")
    moment = datetime(2100, 1, 1, tzinfo=UTC)
    # Without sizes no results are read: there may be millions.
    for with_sizes, sizes in ((False, [0, 0, 0]), (True, [1, 2, 7])):
        asked = {"tags": ["scratch"], "days": [0], "moment": moment, **FIRST, "with_sizes": with_sizes}
        (row,) = models.rows("due_deletions", **asked)
        assert [row[name] for name in names] == [*sizes, [LAB]]
    assert due(models, after_ended=row["ended_at"], after_job=1) == []
    assert due(models, moment=datetime(2000, 1, 1, tzinfo=UTC)) == []

    models.commit(*of("job", 1, JobKept("a bug")))
    assert (due(models), models.row("job", job_id=1)["kept"]["reason"]) == ([], "a bug")
    models.commit(*of("job", 1, JobKeepEnded("fixed")))
    models.commit(*of("job", 1, JobChanged("", "60days", None)))
    assert (due(models), due(models, tags=("scratch", "60days"))) == ([], [1])


def test_due__sizes_whose_sum_is_too_large__are_the_largest_number(
    models: ProjectedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LOG, "size_bytes", 2**63 - 1)
    run_job(models)
    result = TaskResult(11, "Fail", "", None, (), logs=(LOG,))
    models.commit(*of("recipe", 1, result))
    assert due(models) == due(models, with_sizes=False) == [1]


def test_due__open_job__ends_when_it_is_closed(models: ProjectedLog) -> None:
    models.commit(lab())
    models.commit(*of("job", 1, JobSubmitted("ada", "ada", None, "", (), {}), JobOpened(())))
    models.commit(
        *of("job", 1, JobExtended((5,), {"recipe_sets": [{"recipes": []}]})),
        *of("recipe-set", 5, RecipeSetSubmitted(1, "Normal", (5,))),
        *of("recipe", 5, host(5, job_id=1, recipe_set_id=5)),
    )
    models.commit(*of("recipe", 5, RecipeCancelled("enough")))
    assert due(models) == []
    closed: Event = JobClosed("closed")
    models.commit(*of("job", 1, closed))
    assert due(models) == [1]


def test_migration__rows_from_before_it__equal_those_of_a_rebuild(models: ProjectedLog, owner: Owner) -> None:
    run_job(models)
    models.commit(*of("job", 1, JobChanged("late", "60days", None)))
    document = {"retention_tag": "120days"}
    models.commit(*of("job", 2, JobSubmitted("ada", "ada", None, "", (), document), JobOpened(())))
    for number in (5, 6):
        # The job is done in between, but takes further sets.
        models.commit(
            *of("job", 2, JobExtended((number,), {"recipe_sets": [{"recipes": []}]})),
            *of("recipe-set", number, RecipeSetSubmitted(2, "Normal", (number,))),
            *of("recipe", number, host(number, job_id=2, recipe_set_id=number)),
        )
        models.commit(*of("recipe", number, RecipeCancelled("enough")))
    models.commit(*of("job", 2, JobClosed("closed")))
    models.commit(*of("job", 2, JobChanged("later", "120days", None)))
    rows = owner.execute(JOBS).fetchall()
    assert {row[0] for row in rows if row[3] is not None} == {1, 2}
    owner.execute("UPDATE read.jobs SET retention_tag = 'scratch', ended = NULL")
    (update,) = [part for part in MIGRATION.read_text("utf-8").split(";") if "\nUPDATE read.jobs" in part]
    owner.execute(update.encode())
    assert owner.execute(JOBS).fetchall() == rows
