"""Recovery: what a lab controller says runs on a system, compared with the log, which wins (design 6)."""

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


def reported_running(gathered: ReadSet, system: System, said: Running) -> Decided:
    """Return the events that follow from what runs on a system, none if the log has them all.

    A recipe that has started there is attached: it moves on to the reported state, if that is later. Anything
    else occupies the system, unless a person has it and no recipe runs there.
    """
    recipe = None if said.recipe_id is None else gathered.recipe(said.recipe_id)
    if recipe is None:
        if said.recipe_id is None and system.reservation is not None:
            return []
        # No command can stop what no recipe is.
        occupation = Occupation(_unknown(said), None, None)
    else:
        contradiction = _contradiction(recipe, system, said)
        if contradiction is None:
            return _attach(gathered, system, recipe, said)
        occupation = Occupation(contradiction, said.recipe_id, said.attempt)
    return occupy(system, gathered.members_on(system), occupation)


def not_running(gathered: ReadSet, system: System, running: Collection[int]) -> Decided:
    """Return the events for what does not run on a system after the lab controller has named all that does.

    `running` are the recipes that run there, 0 for anything else. A recipe that is installing or later, and
    its guests, are aborted, unless what runs there has no name, as it may be the recipe. An occupied system
    is vacated if nothing runs there.
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


def _unknown(said: Running) -> str:
    return UNNAMED if said.recipe_id is None else f"recipe {said.recipe_id} runs there, which does not exist"


def _contradiction(recipe: Recipe, system: System, said: Running) -> str | None:
    """Return what the log says against a running recipe, None if the recipe has started there."""
    runs = f"recipe {recipe.recipe_id} runs there"
    if recipe.finished:
        return f"{runs}, but is {recipe.state}"
    if recipe.system not in (None, system.fqdn):
        return f"{runs}, but has {recipe.system}"
    if not recipe.started:
        return f"{runs}, but has not started: it is {recipe.state}"
    fault = attempt_fault(recipe, said.attempt, is_installing=False)
    return None if fault is None else f"{runs}, but {fault}"


def _attach(gathered: ReadSet, system: System, recipe: Recipe, said: Running) -> Decided:
    decided = vacate(system, f"recipe {recipe.recipe_id} runs there")
    if said.report is None:
        return decided
    after = gathered.after(decided)
    members = after.members(recipe.recipe_set_id)
    return [*decided, *report(members, recipe, said.report, attempt=recipe.attempt)]
