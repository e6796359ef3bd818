"""Drafts of the events of reports; each draft is committed or dropped separately."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from api.use_cases.ports import Log
from api.use_cases.rights import require_own_lab
from domain.directory.state import Directory
from domain.errors import LabledgerError, NotPermitted, Refused, Unknown, display_name
from domain.events import Decided
from domain.lab_commands.lifecycle import report as report_command
from domain.lab_commands.lifecycle import state_after
from domain.read_set import ReadSet, members_after
from domain.recipe_set.messages import Report
from domain.recipe_set.reports import report
from store.aggregates import Aggregates


@dataclass(frozen=True)
class RecipeItem:
    """A report on a recipe; `attempt` is None if the lab controller names none."""

    recipe_id: int
    report: Report
    attempt: int | None = None


@dataclass(frozen=True)
class CommandItem:
    """A report on a command. `power_failed`: it failed because of the power control."""

    command_id: int
    state: str
    reason: str = ""
    power_failed: bool = False

    @property
    def subject(self) -> str:
        return f"command/{self.command_id}"


@dataclass
class ReportDraft:
    """The events of some reports, whose `places` are their indexes among the items of the message.

    `refused` has the errors of refused reports by place, `decided` the events of the others, and `versions`
    those that the decision used.
    """

    places: tuple[int, ...]
    refused: dict[int, LabledgerError] = field(default_factory=dict)
    decided: Decided = field(default_factory=list)
    versions: dict[str, int] = field(default_factory=dict)

    def refusal(self, place: int) -> str | None:
        error = self.refused.get(place)
        return None if error is None else str(error)


def of_recipes(
    aggregates: Aggregates, directory: Directory, lab_controller: str | None, items: Mapping[int, RecipeItem]
) -> list[ReportDraft]:
    """Return a draft per recipe set, and one per report on an unknown or other lab's recipe. Blocking."""
    gathered = aggregates.gather(f"recipe/{item.recipe_id}" for item in items.values())
    drafts: list[ReportDraft] = []
    of_set: dict[int, dict[int, RecipeItem]] = defaultdict(dict)
    for place, item in items.items():
        recipe = gathered.recipe(item.recipe_id)
        try:
            if recipe is None:
                raise Unknown(display_name("recipe", item.recipe_id))
            if recipe.system is not None:
                require_own_lab(lab_controller, recipe.subject, recipe.lab_controller)
            of_set[recipe.recipe_set_id][place] = item
        except (Unknown, NotPermitted) as error:
            drafts.append(ReportDraft((place,), {place: error}))
    return drafts + [_of_set(gathered, directory, set_id, reports) for set_id, reports in of_set.items()]


def _of_set(
    gathered: ReadSet, directory: Directory, recipe_set_id: int, reports: Mapping[int, RecipeItem]
) -> ReportDraft:
    draft = ReportDraft(tuple(reports))
    members = gathered.members(recipe_set_id)
    for place, item in reports.items():
        try:
            recipe = members.recipe(item.recipe_id)
            broken_after = directory.broken_after(recipe.lab_controller)
            events = report(members, recipe, item.report, broken_after, item.attempt)
        except Refused as error:
            draft.refused[place] = error
            continue
        members = members_after(members, events)
        draft.decided += events
    # Only those of changed subjects: otherwise concurrent reports on one set would conflict. This is safe,
    # because starting a set, withdrawing a system and ending a host each append an event of every unfinished
    # recipe that such a decision uses, and finished recipes never change.
    draft.versions = {subject: gathered.versions[subject] for subject, _ in draft.decided}
    return draft


def of_commands(log: Log, items: Mapping[int, CommandItem]) -> list[ReportDraft]:
    """Return a draft for each command alone, without effects on its recipe or system. Blocking."""
    past = log.load({item.subject: 0 for item in items.values()})
    of_command: dict[str, dict[int, CommandItem]] = defaultdict(dict)
    for place, item in items.items():
        of_command[item.subject][place] = item
    drafts = []
    for subject, reports in of_command.items():
        draft = ReportDraft(tuple(reports), versions={subject: len(past[subject])})
        state = state_after([recorded.event for recorded in past[subject]])
        for place, item in reports.items():
            try:
                event = report_command(subject, state, item.state, item.reason)
            except Refused as error:
                draft.refused[place] = error
                continue
            if event is not None:
                draft.decided.append((subject, event))
                state = item.state
        drafts.append(draft)
    return drafts
