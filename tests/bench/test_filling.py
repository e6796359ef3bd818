"""The log of a case equals the log that the API and the scheduler write."""

from __future__ import annotations

import orjson

from bench.jobs import JobReader
from bench.limits.rows import EVENTS_OF_A_GRANT, of_grants
from domain.directory.state import Directory
from store.mapper import EventMapper


def recipe(memory_mb: int) -> dict[str, object]:
    asked = {"and": [{"element": "memory", "op": ">=", "value": str(memory_mb)}]}
    return {"host_requires": asked, "distro_requires": {}, "tasks": [{"name": "/t", "params": {"A": "1"}}]}


def test_job_reader__recipes_read_before__same_job_as_the_door_reads() -> None:
    reader = JobReader(Directory(), "admin")
    sets = [
        {"priority": "High", "recipes": [recipe(1), recipe(2)]},
        {"priority": "Low", "recipes": [recipe(2)]},
    ]
    reader.job(sets[1:])
    assert reader.job(sets) == reader.parse(sets)


def test_rows_of_grants__several_commits__events_that_the_log_could_hold() -> None:
    first, second = of_grants(1, 2), of_grants(3, 2)
    mapper = EventMapper()
    read = [mapper.read(topic, state) for topic, state in zip(first[2], first[3], strict=True)]
    assert [event.TOPIC for event, _ in read[:EVENTS_OF_A_GRANT]] == [
        "recipe.scheduled",
        "system.scheduled",
        "recipe.waiting",
        "system.waiting",
    ]
    assert orjson.loads(first[3][0])["basis"] < first[4][0]
    keys = [(*key,) for rows in (first, second) for key in zip(rows[0], rows[1], strict=True)]
    assert len(keys) == len(set(keys))
    assert first[4] + second[4] == list(range(first[4][0], first[4][0] + 4 * EVENTS_OF_A_GRANT))
