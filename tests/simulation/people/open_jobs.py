"""Open jobs in a seed: their keys, further sets and ends, and changes of recipes that wait."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from random import Random
from typing import Any, Final, NamedTuple

import orjson

from api.intake import read_added_sets
from api.parts import Parts
from api.use_cases.change_recipe import change_recipe, present_set
from api.use_cases.extend_job import close_job, extend_job
from api.use_cases.ports import RequestContext
from api.use_cases.rights import own_job
from domain.job.spec import JobSpec
from domain.job.state import Job
from domain.priority import Priority
from domain.recipe_set.state import RecipeSet
from replay.workload.generated_jobs import generate_jobs
from tests.simulation.people.actor import Act
from tests.simulation.people.contention import contended

# Fields of a recipe that people change together, because requirements of another lab fit no distro.
CHANGED: Final = (("tasks",), ("host_requires", "distro_requires"), ("locks",))
# Fields of a set that a change of one of its recipes leaves as they are.
KEPT: Final = ("key", "depends_on", "reasons")


class KeptJob(NamedTuple):
    """The answer to the submission of an open job, and its sets by key."""

    answer: dict[str, Any]
    sets: dict[str, dict[str, Any]]


class OpenJobKeeper:
    """The open jobs of one submitter. The sets of contended seeds declare locks."""

    def __init__(self, dice: Random, lab: dict[str, Any], is_contended: bool) -> None:
        self._dice = dice
        self._is_contended = is_contended
        self._sources = generate_jobs(lab, dice.randrange(1 << 30), 1 << 30)
        self._kept: list[KeptJob] = []

    def opened(self, job: dict[str, Any], key: str) -> dict[str, Any]:
        """Return a job that is open, perhaps without sets, or the job as it is."""
        if self._dice.random() < 0.5:
            return job
        documents = job["recipe_sets"] if self._dice.random() < 0.8 else []
        sets = [{**each, "key": f"set {number}"} for number, each in enumerate(documents)]
        return {**job, "open": True, "key": key, "recipe_sets": sets}

    def keep(self, job: dict[str, Any], answer: dict[str, Any]) -> None:
        """Add a submitted job to those of later acts, if it is open."""
        if job.get("open"):
            self._kept.append(KeptJob(answer, {each["key"]: each for each in job["recipe_sets"]}))

    def acts(self, job: dict[str, Any]) -> Iterator[tuple[Act, Callable[[Any], None]]]:
        """Yield acts, each with a function that takes its commit. `job` is the answer to a submission."""
        if job["recipe_set_ids"] and self._dice.random() < 0.5:
            yield self._change(self._dice.choice(job["recipe_set_ids"])), lambda _: None
        while self._kept and self._dice.random() < 0.6:
            kept = self._dice.choice(self._kept[-3:])
            if self._dice.random() < 0.2:
                yield _closing(kept.answer["job_id"]), lambda _: None
                self._kept.remove(kept)
            else:
                sets = self._sets_for(kept)
                yield _extending(kept.answer["job_id"], sets), partial(_add, kept, sets)

    def _sets_for(self, kept: KeptJob) -> list[dict[str, Any]]:
        """Return a new set, or one that the job has: the same, or changed."""
        key = f"set {len(kept.sets)}"
        if not kept.sets or self._dice.random() < 0.5:
            return [{**self._source()["recipe_sets"][0], "key": key}]
        again = kept.sets[self._dice.choice(sorted(kept.sets))]
        if self._dice.random() < 0.5:
            return [again]
        first, *others = again["recipes"]
        priority = self._dice.choice(list(Priority)).name
        return [{**again, "priority": priority, "recipes": [{**first, **self._fields()}, *others]}]

    def _change(self, recipe_set_id: int) -> Act:
        fields = self._fields()
        return f"changes the first recipe of recipe set {recipe_set_id}: {sorted(fields)}", _changing(
            recipe_set_id, fields
        )

    def _fields(self) -> dict[str, Any]:
        recipe, names = self._source()["recipe_sets"][0]["recipes"][0], self._dice.choice(CHANGED)
        return {name: recipe[name] for name in names if name in recipe}

    def _source(self) -> dict[str, Any]:
        source = next(self._sources)
        return contended(source, self._dice, ()) if self._is_contended else source


def _add(kept: KeptJob, sets: list[dict[str, Any]], done: Any) -> None:
    """Add sent sets to their job, and their numbers to its answer, which the other acts of its owner use.

    Without a commit, a changed set is as before. A new one may be in the log all the same.
    """
    for each in sets:
        if done is not None or each["key"] not in kept.sets:
            kept.sets[each["key"]] = each
    answer = orjson.loads(done.answer) if done is not None else {}
    for name in ("recipe_set_ids", "recipe_ids"):
        kept.answer[name] += [each for each in answer.get(name, ()) if each not in kept.answer[name]]


def _closing(job_id: int) -> Act:
    return f"closes job {job_id}", lambda services, request: close_job(services, request, job_id)


def _extending(job_id: int, recipe_sets: list[dict[str, Any]]) -> Act:
    async def extend(services: Parts, request: RequestContext) -> Any:
        job = await asyncio.to_thread(own_job, services, request, job_id)
        spec = _read(services, request, job, recipe_sets)
        return (await extend_job(services, request, job, spec)).done

    return f"sends {[each['key'] for each in recipe_sets]} for job {job_id}", extend


def _changing(recipe_set_id: int, fields: Mapping[str, Any]) -> Callable[..., Any]:
    subject = f"recipe-set/{recipe_set_id}"

    async def change(services: Parts, request: RequestContext) -> Any:
        recipe_set = (await asyncio.to_thread(services.aggregates.load, [subject]))[subject]
        assert isinstance(recipe_set, RecipeSet), "recipe sets are never removed"
        job = await asyncio.to_thread(own_job, services, request, recipe_set.job_id)
        seen = (await asyncio.to_thread(present_set, services.log, job, recipe_set)).document
        first, *others = seen["recipes"]
        document = {name: value for name, value in seen.items() if name not in KEPT}
        spec = _read(services, request, job, [{**document, "recipes": [{**first, **fields}, *others]}])
        return await change_recipe(services, request, recipe_set.recipe_ids[0], job, seen, spec)

    return change


def _read(services: Parts, request: RequestContext, job: Job, recipe_sets: list[Any]) -> JobSpec:
    body, names = orjson.dumps({"recipe_sets": recipe_sets}), services.feed.directory.name_index()
    return read_added_sets(body, "application/json", names, request.actor, is_admin=True, present=job).spec
