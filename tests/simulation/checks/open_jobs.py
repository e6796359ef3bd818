"""Checks of open jobs at rest: each is closed once its recipes have ended, and no key names two sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from domain.events import Recorded
from domain.job.events import JobClosed, JobExtended, JobOpened, JobSubmitted
from domain.recipe.events import RecipeNew
from domain.recipe.lifecycle import FINISHED


def open_for_ever(log: Sequence[Recorded]) -> Iterator[str]:
    """Yield jobs that are open for ever, although all of their recipes have ended."""
    opened = dict[str, bool]()
    jobs, states = dict[str, str](), dict[str, str]()
    for recorded in log:
        event, subject = recorded.event, recorded.subject
        if isinstance(event, JobOpened | JobClosed):
            opened[subject] = isinstance(event, JobOpened)
        elif isinstance(event, RecipeNew):
            jobs[subject] = f"job/{event.job_id}"
        if subject in jobs:
            states[subject] = getattr(event, "STATE", states.get(subject, "new"))
    unfinished = {jobs[recipe] for recipe, state in states.items() if state not in FINISHED}
    for job, is_open in opened.items():
        if is_open and job not in unfinished:
            yield f"{job} is open for ever, and all of its recipes have ended"


def repeated_keys(log: Sequence[Recorded]) -> Iterator[str]:
    """Yield keys that name more than one set of a job."""
    found = Counter[tuple[str, str]]()
    for recorded in log:
        if isinstance(recorded.event, JobSubmitted | JobExtended):
            sets = recorded.event.document["recipe_sets"]
            found.update((recorded.subject, each["key"]) for each in sets if "key" in each)
    for (job, key), count in found.items():
        if count > 1:
            yield f"{job} has {count} sets with the key {key!r}"
