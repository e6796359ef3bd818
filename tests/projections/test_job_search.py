"""The search among jobs: pages have the jobs that match, as of any position, whichever index finds them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from random import Random
from typing import Any, NamedTuple

import orjson
import pytest

from domain.job.events import JobChanged, JobExtended, JobSubmitted
from domain.recipe.events import RecipeNew
from domain.recipe_set.events import RecipeSetSubmitted
from projections.job_terms import ALL_JOBS, BLOCK_JOBS
from tests.harness.pool import ServerPool
from tests.harness.sessions import owner_session
from tests.projections.happened import Happened, host, lab, of, submitted
from tests.projections.job_pages import CANDIDATES, found_jobs, pages
from tests.projections.projected_log import ProjectedLog, projected_log
from tests.projections.recipe_lives import OWNERS, lives

JOBS = 36
# The difference of two ids, which leaves a block few jobs.
STEP = BLOCK_JOBS // 5
WORDS = ("nightly", "Kernel", "6.12", "ÄRGER", "smoke")
TASKS = ("/install", "/kernel/boot", "/smoke")
PRODUCTS = (None, "linux", "cpe:/o:lab:linux")


class ExpectedJob(NamedTuple):
    """A job as of a position: its row, with the properties that the row does not have."""

    row: Mapping[str, Any]
    tasks: frozenset[str]
    product: str | None
    systems: frozenset[str]


@pytest.fixture(scope="module")
def models(servers: ServerPool) -> Iterator[ProjectedLog]:
    """Yield one log for all tests of this module, which only read it."""
    with servers.databases("embedded").fresh() as database, projected_log(database) as models:
        yield models


@pytest.fixture(scope="module")
def moments(models: ProjectedLog) -> list[int]:
    """Write the lives of jobs, which people change meanwhile; return some positions, the end last."""
    dice, ends = Random(5), [models.commit(lab())[-1]]
    for commit in lives(dice, JOBS):
        ends.append(models.commit(*(_described(dice, *one) for one in commit))[-1])
        if dice.random() < 0.1:
            changed = JobChanged(_whiteboard(dice), "scratch", dice.choice(PRODUCTS))
            models.commit(*of("job", _submitted_in(commit) or dice.choice(_jobs(models)), changed))
    return [*dice.sample(ends, 3), models.commit(lab("last"))[-1]]


def _jobs(models: ProjectedLog) -> list[int]:
    return [int(row["job_id"]) for row in models.rows("jobs", job_ids=_all_ids())]


def _all_ids() -> list[int]:
    return [number * STEP for number in range(1, JOBS + 1)]


def _submitted_in(commit: list[Happened]) -> int | None:
    return next((int(subject[4:]) * STEP for subject, _ in commit if subject.startswith("job/")), None)


def _whiteboard(dice: Random) -> str:
    return " ".join(dice.sample(WORDS, dice.randint(0, 3)))


def _described(dice: Random, subject: str, event: Any) -> Happened:
    """Return the event with the id of its job, a whiteboard, a product, and tasks that depend on the job."""
    if isinstance(event, JobSubmitted):
        number = int(subject.removeprefix("job/")) * STEP
        recipes = [{"tasks": [{"name": name} for name in _tasks(number)], "guests": []}]
        document = {"product": dice.choice(PRODUCTS), "recipe_sets": [{"recipes": recipes}]}
        given = {name: value for name, value in document.items() if value is not None}
        return f"job/{number}", replace(event, whiteboard=_whiteboard(dice), document=given)
    if isinstance(event, RecipeSetSubmitted):
        return subject, replace(event, job_id=event.job_id * STEP)
    if isinstance(event, RecipeNew):
        number = event.job_id * STEP
        tasks = [
            {**event.tasks[0], "name": _tasks(number)[0]},
            *(
                {**event.tasks[0], "name": name, "task_id": event.tasks[0]["task_id"] + 1_000 * place}
                for place, name in enumerate(_tasks(number)[1:], 1)
            ),
        ]
        return subject, replace(event, job_id=number, tasks=tasks)
    return subject, event


def _tasks(job_id: int) -> list[str]:
    dice = Random(job_id)
    return dice.sample(TASKS, dice.randint(1, 2))


def expected_jobs(models: ProjectedLog, at: int) -> list[ExpectedJob]:
    """Return all jobs as of a position, newest first."""
    found = []
    for row in models.rows("jobs", at=at, job_ids=_all_ids()):
        document = orjson.loads(models.row("job", job_id=row["job_id"], at=at)["document"])
        history = models.rows("history_of_recipe", recipe_id=row["job_id"] // STEP, at=at)
        systems = {
            then["system"]
            for then in history
            if then["state"] in ("waiting", "installing", "running", "reserved") and not then["awaits_locks"]
        }
        found.append(
            ExpectedJob(row, frozenset(_tasks(row["job_id"])), document.get("product"), frozenset(systems))
        )
    return found


def matches(job: ExpectedJob, filters: Mapping[str, Any]) -> bool:
    """Return whether a job matches; the same rules as in SQL, written again."""
    row = job.row
    rules = {
        "whiteboard": lambda text: text.lower() in row["whiteboard"].lower(),
        "task": lambda name: name in job.tasks,
        "product": lambda name: name == job.product,
        "system": lambda name: name in job.systems,
        "since": lambda moment: row["submitted_at"] >= moment,
        "until": lambda moment: row["submitted_at"] < moment,
    }
    return all(rules[name](value) if name in rules else row[name] == value for name, value in filters.items())


def _any_filters(dice: Random, moments: list[datetime]) -> dict[str, Any]:
    """Return one to four filters; some texts are in no whiteboard."""
    values: dict[str, list[Any]] = {
        "whiteboard": ["night", "KERNEL", "ärger", "6.1", "el", "nightly kernel", "absent", "smokeless"],
        "task": [*TASKS, "/absent"],
        "product": ["linux", "cpe:/o:lab:linux", "absent"],
        "system": [*"abcdef", "absent"],
        "owner": [*OWNERS, "absent"],
        "group": ["red", "blue"],
        "state": ["completed", "running", "aborted", "queued"],
        "result": ["New", "Pass", "Warn", "Fail", "Panic"],
        "partition": [1, 2],
        "since": moments,
        "until": moments,
    }
    return {name: dice.choice(values[name]) for name in dice.sample(sorted(values), dice.randint(1, 4))}


@pytest.mark.parametrize("few", [1, 1_000], ids=["common filters", "rare filters"])
def test_search__any_filters__has_the_jobs_that_match(
    models: ProjectedLog, moments: list[int], few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("projections.job_search._FEW_LISTED", few)
    dice, seen = Random(few), 0
    for at in moments:
        jobs = expected_jobs(models, at)
        times = [job.row["submitted_at"] for job in jobs]
        for _ in range(40):
            filters = _any_filters(dice, times)
            wanted = [job.row["job_id"] for job in jobs if matches(job, filters)]
            assert found_jobs(models, at, **filters) == wanted, f"{filters} as of {at}"
            seen += len(wanted)
    assert seen > 50


def test_search__many_candidates_without_a_match__goes_on_with_the_next_page(
    models: ProjectedLog, moments: list[int]
) -> None:
    # A text of two characters is in no index.
    found = list(pages(models, moments[-1], whiteboard="zz"))
    assert [page.job_ids for page in found] == [[]] * len(found)
    assert len(found) >= JOBS // CANDIDATES


def test_search__set_added_to_a_job__finds_its_task_from_then_on(servers: ServerPool) -> None:
    with servers.databases("embedded").fresh() as database, projected_log(database) as models:
        models.commit(lab())
        before = models.commit(*submitted(host(1)))[-1]
        recipe = host(2, recipe_set_id=2, tasks=({**host(2).tasks[0], "name": "/added"},))
        sets = {"recipe_sets": [{"recipes": [{"tasks": [{"name": "/added"}]}]}]}
        models.commit(
            ("job/1", JobExtended((2,), sets)),
            ("recipe-set/2", RecipeSetSubmitted(1, "Normal", (2,))),
            ("recipe/2", recipe),
        )
        # The next task is added to a closed block.
        later = [(f"job/{3 * BLOCK_JOBS}", JobSubmitted("ada", "ada", None, "", (), {}))]
        at = models.commit(*later)[-1]
        assert closed_blocks(models) == [0]
        assert found_jobs(models, at, task="/added") == found_jobs(models, at, task="/check") == [1]
        assert found_jobs(models, before, task="/added") == []
        third = host(3, recipe_set_id=3, tasks=({**host(3).tasks[0], "name": "/third"},))
        at = models.commit(
            ("job/1", JobExtended((3,), {"recipe_sets": [{"recipes": [{"tasks": [{"name": "/third"}]}]}]})),
            ("recipe-set/3", RecipeSetSubmitted(1, "Normal", (3,))),
            ("recipe/3", third),
            ("job/1", JobChanged("renamed in İzmir", "scratch", None)),
        )[-1]
        assert found_jobs(models, at, task="/third", whiteboard="NAMED in izm") == [1]


def closed_blocks(models: ProjectedLog) -> list[int]:
    rows = models.rows("blocks_with_terms", terms=[ALL_JOBS], first=0, before=2**31, count=10**9)
    return sorted(row["block"] for row in rows)


def test_search__job_submitted_after_its_block_was_closed__is_found_in_its_time(servers: ServerPool) -> None:
    with servers.databases("embedded").fresh() as database, projected_log(database) as models:
        submission = JobSubmitted("ada", "ada", None, "nightly", (), {})
        for block in (0, 3, 4):
            models.commit((f"job/{block * BLOCK_JOBS + 1}", submission))
        late = BLOCK_JOBS + 5
        at = models.commit((f"job/{late}", submission))[-1]
        since = models.row("jobs", job_ids=[late])["submitted_at"]
        assert found_jobs(models, at, whiteboard="night", since=since) == [late]
        assert len(found_jobs(models, at, whiteboard="night")) == 4
        assert found_jobs(models, at - 1, owner="ada") == [4 * BLOCK_JOBS + 1, 3 * BLOCK_JOBS + 1, 1]


def test_search__late_job_from_before_the_index__hides_no_later_jobs(servers: ServerPool) -> None:
    with servers.databases("embedded").fresh() as database, projected_log(database) as models:
        submission = JobSubmitted("ada", "ada", None, "nightly", (), {})
        blocks = (0, 5, 6)
        at = [models.commit((f"job/{block * BLOCK_JOBS + 1}", submission))[-1] for block in blocks][-1]
        with owner_session(database.owner_url) as owner:
            # As the migration leaves a database that had these jobs.
            owner.execute("DELETE FROM read.job_terms")
            owner.execute("INSERT INTO read.job_terms VALUES ('!', 4, repeat('0', 2048)::bit(2048), 0, 0)")
        models.commit((f"job/{BLOCK_JOBS + 5}", submission))
        expected = [block * BLOCK_JOBS + 1 for block in reversed(blocks)]
        assert found_jobs(models, at, owner="ada") == expected


def test_terms__projector_started_again__are_those_of_one_that_was_not(servers: ServerPool) -> None:
    kept: list[list[Any]] = []
    for begins_again in (False, True):
        dice = Random(7)
        with servers.databases("embedded").fresh() as database, projected_log(database) as models:
            models.commit(lab())
            for number, commit in enumerate(lives(dice, JOBS)):
                models.commit(*(_described(dice, *one) for one in commit))
                if dice.random() < 0.1:
                    changed = JobChanged(_whiteboard(dice), "scratch", dice.choice(PRODUCTS))
                    models.commit(*of("job", dice.choice(_jobs(models)), changed))
                if begins_again and number % 3 == 0:
                    models.begin_again()
            with owner_session(database.owner_url) as owner:
                kept.append(owner.execute(ROWS_OF_TERMS).fetchall())
    assert kept[0] == kept[1]
    blocks = {block for term, block, *_ in kept[0] if term == ALL_JOBS}
    assert blocks == set(range(len(blocks))) and len(blocks) > 4


ROWS_OF_TERMS = (
    b"SELECT term, block, jobs::text, since_position, last_position FROM read.job_terms ORDER BY 1, 2"
)
