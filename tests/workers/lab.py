"""A small lab and its jobs, appended to the log directly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from domain.contention.locks import NO_LOCKS, Locks
from domain.directory.events import DistroTreeRegistered, LabControllerRegistered
from domain.events import Change, Event
from domain.job.spec import JobSpec, RecipeSetSpec, RecipeSpec, TaskSpec
from domain.job.submission import counts, submit
from domain.partition_numbers import partition_of
from domain.priority import Priority
from domain.system_admin.registration import register
from store.event_log import EventLog
from store.requests import AppendRequest
from tests.harness.appends import STAMP, positions

TREE = DistroTreeRegistered(
    name="Distro-1",
    family="Distro",
    version="1",
    arch="x86_64",
    variant="Server",
    tags=[],
    urls={"lab": ["http://lab/1"], "west": ["http://west/1"]},
    added_at="2026-01-01T00:00:00Z",
)
SYSTEM = {
    "lab_controller": "lab",
    "owner": "admin",
    "condition": "Automated",
    "pools": [],
    "type": "Machine",
    "arches": ["x86_64"],
    "excluded_families": [],
}


def equip(log: EventLog, systems: int) -> None:
    """Append a lab with a distro tree and some systems."""
    put(log, [("distro-tree/1", TREE)])
    add_lab(log, "lab", systems)


def add_lab(log: EventLog, name: str, systems: int) -> tuple[str, ...]:
    """Append a lab with some systems, and return their names."""
    put(log, [(f"lab-controller/{name}", LabControllerRegistered(enabled=True))])
    fqdns = tuple(f"host-{number:02}.{name}" for number in range(systems))
    for fqdn in fqdns:
        put(log, register({**SYSTEM, "lab_controller": name, "fqdn": fqdn}))
    return fqdns


def submit_jobs(log: EventLog, jobs: int, locks: Locks = NO_LOCKS, partition: int | None = None) -> list[int]:
    """Append jobs whose recipes fit every system and declare locks; return the ids of the recipes."""
    job = replace(JOB, recipe_sets=(replace(RECIPE_SET, recipes=(replace(RECIPE, locks=locks),)),))
    return [recipe_id for _ in range(jobs) for recipe_id in _submit(log, job, partition)]


def _submit(log: EventLog, job: JobSpec, partition: int | None) -> Iterator[int]:
    (ids,) = log.take_ids([counts(job)])
    put(log, submit(job, ids, "admin", [1] * len(ids.recipes)), partition=partition)
    yield from ids.recipes


def put(
    log: EventLog, decided: list[tuple[str, Event]], after: int = 0, partition: int | None = None
) -> None:
    """Append events of subjects that all have the version `after`; a partition is that of the subjects."""
    changes = tuple(Change(subject, event, STAMP) for subject, event in decided)
    expected = dict.fromkeys((subject for subject, _ in decided), after)
    number = partition_of(expected) if partition is None else partition
    (outcome,) = log.append(
        [AppendRequest(f"put/{log.end()}/{decided[0][0]}", changes, expected, partition=number)]
    )
    positions(outcome)


RECIPE = RecipeSpec(
    whiteboard="",
    role=None,
    kernel_options="",
    kernel_options_post="",
    ks_meta="",
    host_requires='{"and":[]}',
    distro_requires='{"and":[]}',
    autopick_random=False,
    autopick_pools=(),
    tasks=(TaskSpec("/one", None, ()), TaskSpec("/two", None, ())),
)
RECIPE_SET = RecipeSetSpec(Priority.Normal, (RECIPE,))
JOB = JobSpec(
    whiteboard="",
    owner=None,
    group=None,
    retention_tag="scratch",
    product=None,
    recipe_sets=(RECIPE_SET,),
    document={},
)
