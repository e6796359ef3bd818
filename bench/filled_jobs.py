"""Read models with more jobs than a benchmark can run, written without a log. All jobs have ended.

The rows are those of a projector, written by a rebuild of the read models. The log has none of their events,
only commits, which map times to positions. So only lists of jobs are right.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, Final, NamedTuple

from bench.outcome import ProgressCallback
from domain.job.spec import DEFAULT_RETENTION_TAG
from domain.partition_numbers import DEFAULT_NUMBER
from postgres.binary_copy import CopyData, CopyEncoder
from projections.intervals import FactTable, Instant
from projections.job_terms import JobTerms, job_terms, property_term
from projections.rebuild.rebuild import Rebuild
from projections.rebuild.sessions import owner_session
from projections.rows import JobDocumentRow, JobRow, JobSystemRow, RecipeDetailsRow, types_of
from store.migrate import LOCK, migrations

DAYS: Final = 365
OWNERS, GROUPS, TASKS, PRODUCTS = 500, 20, 300, 40
KINDS: Final = ("nightly", "smoke", "regression", "performance", "bring-up", "bisect")
RESULTS: Final = ("Pass", "Pass", "Pass", "Pass", "Pass", "Warn", "Fail", "Fail")
STATES: Final = (*("completed",) * 18, "aborted", "cancelled")
# Every job with a multiple of this id has a rare result, system and owner.
RARE: Final = 100_000
COMMON_OWNER, RARE_OWNER, RARE_SYSTEM = "owner-0", "owner-rare", "system-rare"
# Positions from a submission to the next one, and to the end of the job.
STEP, LENGTH = 20, 2_000
_PIECE: Final = 10_000
_OPEN: Final = (2**63 - 1, "infinity")
_COLUMNS: Final = {"job_id": "integer", **types_of(JobRow)}
_SPAN: Final = {
    "since_position": "bigint",
    "since": "timestamptz",
    "until_position": "bigint",
    "until": "timestamptz",
}


class FilledJob(NamedTuple):
    job_id: int
    owner: str
    group: str
    whiteboard: str
    product: str
    task: str
    system: str
    state: str
    result: str


def filled_job(job_id: int, systems: int, seed: int) -> FilledJob:
    """Return a job: few owners, tasks and systems have many jobs, and many have few."""
    dice = Random(f"{seed}/{job_id}")
    is_rare = job_id % RARE == 0
    kind = dice.choice(KINDS)
    kernel = f"{dice.randint(5, 6)}.{dice.randint(0, 19)}.{dice.randint(0, 30)}-{dice.randint(100, 600)}"
    return FilledJob(
        job_id,
        owner=RARE_OWNER if is_rare else f"owner-{_of(dice, OWNERS)}",
        group=f"group-{_of(dice, GROUPS)}",
        whiteboard=f"{kind} kernel-{kernel} x86_64 build {job_id * 7_919 % 999_983}",
        product=f"product-{_of(dice, PRODUCTS)}",
        task=f"/tests/{kind}/{_of(dice, TASKS)}",
        system=RARE_SYSTEM if is_rare else f"system-{_of(dice, systems)}",
        state=dice.choice(STATES),
        result="Panic" if is_rare else dice.choice(RESULTS),
    )


def _of(dice: Random, count: int) -> int:
    return int(count * dice.random() ** 3)


def fill_jobs(
    owner_url: str, count: int, systems: int, seed: int, on_progress: ProgressCallback
) -> dict[str, float]:
    """Write the read models of jobs, and commits with their times over the last days; return their sizes."""
    with owner_session(owner_url) as owner:
        names = [migration.name for migration in migrations()]
        with closing(Rebuild(owner_url, LOCK, names)) as fresh:
            first = fresh.log_end() + 1
            end = first + count * STEP + LENGTH
            began = datetime.now(UTC) - timedelta(days=DAYS)
            second = timedelta(days=DAYS) / count / STEP

            def instant(position: int) -> Instant:
                return position, began + second * (position - first)

            jobs = (filled_job(job_id, systems, seed) for job_id in range(1, count + 1))
            fresh.fill([_rows(jobs, first, instant, count, on_progress)])
            fresh.complete(end)
            fresh.swap(list)
        commits = [(f"filled/{n}", n, instant(n)[1]) for n in range(first, end, 100 * STEP)]
        with owner.cursor() as cursor, cursor.copy(_COMMITS) as copy:
            for command_id, position, moment in commits:
                copy.write_row((command_id, position, position, moment))
        owner.execute(b"SELECT setval('log.job_ids', %s)", (count,))
        owner.execute(b"VACUUM ANALYZE")
        return dict(owner.execute(_SIZES).fetchall())


def _rows(
    jobs: Iterator[FilledJob], first: int, instant: Any, count: int, on_progress: ProgressCallback
) -> Generator[CopyData]:
    documents, recipes = (
        FactTable("job_documents", JobDocumentRow),
        FactTable("recipe_details", RecipeDetailsRow),
    )
    starts, terms = FactTable("job_systems", JobSystemRow), JobTerms(tables_are_empty=True)
    encoder, rows = CopyEncoder("jobs", {**_COLUMNS, **_SPAN}), list[tuple[Any, ...]]()
    for job in jobs:
        position = first + (job.job_id - 1) * STEP
        now, end = instant(position), instant(position + LENGTH)
        documents.add(_document(job), now)
        recipes.add(_recipe(job), now)
        starts.add(JobSystemRow(job.system, job.job_id), instant(position + STEP))
        rows.append((job.job_id, *JobRow("new", "New", DEFAULT_RETENTION_TAG), *now, *end))
        ended = JobRow(job.state, job.result, DEFAULT_RETENTION_TAG, stage="completed", ended=end[1])
        rows.append((job.job_id, *ended, *end, *_OPEN))
        _add_terms(terms, job, now, end)
        if job.job_id % _PIECE == 0 or job.job_id == count:
            on_progress("jobs", job.job_id, count)
            yield from encoder.encode(rows)
            rows = []
            for table in (documents, recipes, starts, terms):
                yield from table.take_closed_rows()
    yield from terms.take_remaining_rows()


def _add_terms(terms: JobTerms, job: FilledJob, now: Instant, end: Instant) -> None:
    given = {
        "whiteboard": job.whiteboard,
        "owner": job.owner,
        "group": job.group,
        "partition": DEFAULT_NUMBER,
        "product": job.product,
    }
    terms.add_job(job.job_id, job_terms(given), now)
    later = {"task": job.task, "result": job.result, "state": job.state}
    terms.add(job.job_id, [property_term(name, value) for name, value in later.items()], end)


def _document(job: FilledJob) -> JobDocumentRow:
    recipe = {
        "tasks": [{"name": job.task, "params": {}}],
        "guests": [],
        "host_requires": {"and": []},
        "distro_requires": {"and": [{"element": "distro_name", "op": "=", "value": "linux-9"}]},
    }
    document = {"product": job.product, "recipe_sets": [{"priority": "Normal", "recipes": [recipe]}]}
    owner, group = job.owner, job.group
    return JobDocumentRow(
        job.job_id, owner, owner, group, job.whiteboard, document, DEFAULT_NUMBER, "root.default", None
    )


def _recipe(job: FilledJob) -> RecipeDetailsRow:
    task = {"task_id": job.job_id, "name": job.task, "role": None, "params": {}}
    return RecipeDetailsRow(
        recipe_id=job.job_id,
        recipe_set_id=job.job_id,
        job_id=job.job_id,
        owner=job.owner,
        group_name=job.group,
        whiteboard="",
        role=None,
        distro_tree_id=None,
        distro=None,
        tasks=[task],
        host_recipe_id=None,
        guestname=None,
        guestargs=None,
        reservesys=None,
        locks={},
        partition=DEFAULT_NUMBER,
    )


_COMMITS: Final = b"COPY log.commits (command_id, first_position, last_position, recorded_at) FROM STDIN"
_SIZES: Final = (
    b"SELECT relname, pg_total_relation_size(oid)::float8 FROM pg_class"
    b" WHERE relnamespace = 'read'::regnamespace AND relname IN ('job_terms', 'job_systems', 'job_documents')"
)
