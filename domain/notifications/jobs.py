"""Jobs on the way to their end: those with a recipe that has ended, until the job has ended."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from domain.events import Event, Recorded, split_subject
from domain.job.events import JobClosed
from domain.job.state import Job
from domain.notifications.kinds import JOB_ENDED
from domain.notifications.notice import Notice
from domain.recipe.events import RecipeAborted, RecipeCancelled, RecipeCompleted
from domain.recipe.state import Recipe
from domain.recipe_set.events import RecipeSetSubmitted
from domain.roll_up import GIVEN_UP_RESULT, result_in, result_of, state_of

ENDINGS: Final[tuple[type[Event], ...]] = (RecipeCompleted, RecipeCancelled, RecipeAborted)


@dataclass
class JobProgress:
    """A job with its unfinished recipes. `addresses` are those of its `<notify>`."""

    job: Job
    addresses: tuple[str, ...]
    recipe_ids: tuple[int, ...]
    unfinished: set[int]
    is_open: bool

    @property
    def has_ended(self) -> bool:
        return not self.unfinished and not self.is_open


@dataclass
class EndingJobs:
    """Mutable. `begin` adds jobs, as they are at the end of a page; `apply` folds the pages after it.

    `job_of` has the jobs of their unfinished recipes.
    """

    _jobs: dict[int, JobProgress] = field(default_factory=dict)
    job_of: dict[int, int] = field(default_factory=dict)

    def has(self, job_id: int) -> bool:
        return job_id in self._jobs

    def begin(self, progress: JobProgress) -> None:
        self._jobs[progress.job.job_id] = progress
        self.job_of.update(dict.fromkeys(progress.unfinished, progress.job.job_id))

    def apply(self, recorded: Recorded) -> None:
        event = recorded.event
        _, name = split_subject(recorded.subject)
        if isinstance(event, ENDINGS):
            progress = self._jobs.get(self.job_of.pop(int(name), 0))
            if progress is not None:
                progress.unfinished.discard(int(name))
        elif isinstance(event, JobClosed) and (progress := self._jobs.get(int(name))):
            progress.is_open = False
        elif isinstance(event, RecipeSetSubmitted) and (progress := self._jobs.get(event.job_id)):
            progress.recipe_ids += tuple(event.recipe_ids)
            progress.unfinished.update(event.recipe_ids)
            self.job_of.update(dict.fromkeys(event.recipe_ids, event.job_id))

    def take_ended(self, job_ids: Iterable[int]) -> list[JobProgress]:
        """Remove and return those of the jobs that have ended."""
        candidates = {job_id: self._jobs[job_id] for job_id in job_ids if job_id in self._jobs}
        ended = [progress for progress in candidates.values() if progress.has_ended]
        for progress in ended:
            del self._jobs[progress.job.job_id]
        return ended


def job_notice(progress: JobProgress, recipes: Sequence[Recipe], last: tuple[int, datetime]) -> Notice:
    """Return the notice of a job that ended with the event at a position and time, with all its recipes."""
    job = progress.job
    state = state_of(recipe.state for recipe in recipes) if recipes else "completed"
    result = result_of(_result(recipe) for recipe in recipes)
    position, time = last
    counts = {each: sum(recipe.state == each for recipe in recipes) for each in _states(recipes)}
    data = {
        "job_id": job.job_id,
        "owner": job.owner,
        "whiteboard": job.whiteboard,
        "state": state,
        "result": result,
        "recipes": counts,
    }
    title = f"Job {job.job_id} {state}: {result}"
    return Notice(
        JOB_ENDED, position, time, time, job.subject, title, data, (job.owner,), job.since, progress.addresses
    )


def _states(recipes: Sequence[Recipe]) -> list[str]:
    return sorted({recipe.state for recipe in recipes})


def _result(recipe: Recipe) -> str:
    aborted = [GIVEN_UP_RESULT] if any(task.state == "aborted" for task in recipe.tasks) else []
    return result_in(recipe.state, result_of((*recipe.results.kinds, *aborted)))


def last_endings(page: Iterable[Recorded], job_of: Mapping[int, int]) -> dict[int, tuple[int, datetime]]:
    """Return the position and time of the last event of a page that may end a job, by job id.

    `job_of` has the jobs of all recipes that end on the page.
    """
    found: dict[int, tuple[int, datetime]] = {}
    for recorded in page:
        _, name = split_subject(recorded.subject)
        if isinstance(recorded.event, ENDINGS):
            found[job_of[int(name)]] = recorded.position, recorded.recorded_at
        elif isinstance(recorded.event, JobClosed):
            found[int(name)] = recorded.position, recorded.recorded_at
    return found
