"""Recovery: reports of running recipes are compared with the log, and the log wins (design 6)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from domain.events import Decided
from domain.read_set import ReadSet
from domain.recipe.state import Recipe
from domain.recipe_set.ending import abort
from domain.recipe_set.messages import ReportInstalling, ReportTaskRunning
from domain.recipe_set.reports import attempt_fault, report
from domain.system.state import Occupation, System
from domain.system_admin.occupation import occupy, vacate

VACANT = "its lab controller says that nothing runs there"
NOT_RUN = "its lab controller does not run it any more"
INSTALLING_OR_LATER = ("installing", "running", "reserved")
UNNAMED = "something runs there that its lab controller does not name"


@dataclass(frozen=True)
class Running:
    """A recipe that runs on a system, or something else if `recipe_id` is None.

    `attempt` and `report`, which has the state of the recipe, are None if the lab controller does not say.
    """

    recipe_id: int | None
    attempt: int | None = None
    report: ReportInstalling | ReportTaskRunning | None = None


def reported_running(gathered: ReadSet, system: System, running: Running) -> Decided:
    """Return the events that follow from a report of something that runs on a system, none if it is no news.

    A recipe that has started there is attached: it moves on to the reported state, if that is later. Anything
    else occupies the system, unless a person has it and no recipe runs there.
    """
    recipe = None if running.recipe_id is None else gathered.recipe(running.recipe_id)
    if recipe is None:
        if running.recipe_id is None and system.reservation is not None:
            return []
        # No command can stop something that is not a recipe.
        occupation = Occupation(_unknown(running), None, None)
    else:
        contradiction = _contradiction(recipe, system, running)
        if contradiction is None:
            return _attach(gathered, system, recipe, running)
        occupation = Occupation(contradiction, running.recipe_id, running.attempt)
    return occupy(system, gathered.members_on(system), occupation)


def not_running(gathered: ReadSet, system: System, running: Collection[int]) -> Decided:
    """Return the events for a system after its lab controller has named everything that runs in the lab.

    `running` are the recipes that run on the system, 0 for something without a name. A recipe that has the
    system, is installing or later, and does not run is aborted with its guests. It is not aborted if
    something without a name runs there, which may be the recipe. An occupied system is vacated if nothing
    runs there.
    """
    decided: Decided = []
    members = gathered.members_on(system)
    if members is not None and system.recipe_id is not None and not {system.recipe_id, 0} & set(running):
        recipe = members.recipe(system.recipe_id)
        if recipe.state in INSTALLING_OR_LATER:
            decided = abort(members, recipe, NOT_RUN)
    if system.occupied is not None and not running:
        after = gathered.after(decided).system(system.fqdn)
        assert after is not None, "events change no system into none"
        decided += vacate(after, VACANT)
    return decided


def _unknown(running: Running) -> str:
    recipe_id = running.recipe_id
    return UNNAMED if recipe_id is None else f"recipe {recipe_id} runs there, which does not exist"


def _contradiction(recipe: Recipe, system: System, running: Running) -> str | None:
    """Return how the log contradicts a report of a running recipe, None if the recipe has started there."""
    runs = f"recipe {recipe.recipe_id} runs there"
    if recipe.finished:
        return f"{runs}, but is {recipe.state}"
    if recipe.system not in (None, system.fqdn):
        return f"{runs}, but has {recipe.system}"
    if not recipe.started:
        return f"{runs}, but has not started: it is {recipe.state}"
    fault = attempt_fault(recipe, running.attempt, is_installing=False)
    return None if fault is None else f"{runs}, but {fault}"


def _attach(gathered: ReadSet, system: System, recipe: Recipe, running: Running) -> Decided:
    decided = vacate(system, f"recipe {recipe.recipe_id} runs there")
    if running.report is None:
        return decided
    after = gathered.after(decided)
    members = after.members(recipe.recipe_set_id)
    return [*decided, *report(members, recipe, running.report, attempt=recipe.attempt)]
