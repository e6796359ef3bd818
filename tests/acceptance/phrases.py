"""Phrases for expected log transcripts: one line in place of the events that every recipe has.

    admin submits job/1: Urgent recipe-set/1 of recipe/1, recipe/2
    lab-ops starts recipe/1 on m1
    lab-ops completes recipe/1 on m1, task 3
    lab-ops gives up recipe/2 on m2
    lab-ops obeys recipe.waiting recipe/2

A recipe set has no guests, a recipe has one task. The task has the recipe's number unless the line gives one.
"""

from __future__ import annotations

import re

RECIPE_ON_SYSTEM = r"recipe/(?P<recipe>\d+) on (?P<system>\S+)(, task (?P<task>\d+))?"
RECIPE_SET = r"( (?P<priority>[A-Z]\w+))? recipe-set/(?P<set>\d+) of (?P<recipes>.+)"
# A line with `{each}` is repeated for each of the recipes.
PHRASES = {
    rf"(?P<who>\S+) submits job/(?P<job>\d+):{RECIPE_SET}": """
        {who}:
            job.submitted           job/{job}           owner={who}
            recipe-set.submitted    recipe-set/{set}    job_id={job} priority={priority} recipe_ids={ids}
            recipe.new              {each}              recipe_set_id={set} distro_tree_id=1
    """,
    rf"(?P<who>\S+) starts {RECIPE_ON_SYSTEM}": """
        {who}:
            recipe.installing       recipe/{recipe}     system={system}
            system.installing       system/{system}     recipe_id={recipe}
        {who}:
            recipe.running          recipe/{recipe}     system={system}
            system.running          system/{system}     recipe_id={recipe}
            recipe.task-started     recipe/{recipe}     task_id={task}
    """,
    rf"(?P<who>\S+) completes {RECIPE_ON_SYSTEM}": """
        {who}:
            recipe.task-completed   recipe/{recipe}     task_id={task}
        {who}:
            recipe.completed        recipe/{recipe}
            system.pending          system/{system}
    """,
    rf"(?P<who>\S+) gives up {RECIPE_ON_SYSTEM}": """
        {who}:
            recipe.aborted          recipe/{recipe}     reason='seen enough'
            system.pending          system/{system}
    """,
    # The command that the event created.
    r"(?P<who>\S+) obeys (?P<event>\S+ \S+)": """
        {who}:
            command.running         of {event}
        {who}:
            command.completed       of {event}
    """,
}


def expand_phrases(text: str) -> str:
    return "\n".join(map(_expand_phrase, text.splitlines()))


def _expand_phrase(line: str) -> str:
    for phrase, events in PHRASES.items():
        said = re.fullmatch(phrase, line.strip())
        if said is not None:
            return _filled(events, said.groupdict())
    return line


def _filled(events: str, said: dict[str, str | None]) -> str:
    recipes = (said.get("recipes") or "").split(", ")
    otherwise = {"priority": "Normal", "task": said.get("recipe")}
    values = {**said, **{name: said.get(name) or value for name, value in otherwise.items()}}
    ids = ",".join(recipe.removeprefix("recipe/") for recipe in recipes)
    lines = (
        line.format(**values, ids=ids, each=each)
        for line in events.splitlines()
        for each in (recipes if "{each}" in line else recipes[:1])
    )
    return "\n".join(lines)
