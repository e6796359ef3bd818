"""Answers about maintenance windows."""

from __future__ import annotations

from api.rest.contract.answers.common import Answer, AnswerPart, ListAnswer, ReadAnswer
from api.rest.contract.values import Id, RecipeState, Time, WindowState


class MaintenanceWindow(AnswerPart):
    """A window in which nothing new starts on its systems.

    They are `systems`, or if that is null those with all of the other properties that are not null. From
    `drains_at`, which is `lead_seconds` before `starts_at`, until `ends_at` they drain. `state`: planned,
    draining, open from `starts_at`, or ended. `ended_at`: the time at which a person ended it earlier, for
    `end_reason`.
    """

    number: Id
    reason: str
    state: WindowState
    drains_at: Time
    starts_at: Time
    ends_at: Time
    lead_seconds: int
    systems: list[str] | None
    pool: str | None
    lab_controller: str | None
    location: str | None
    added_by: str
    added_at: Time
    ended_at: Time | None
    end_reason: str | None


class UnfinishedRecipe(AnswerPart):
    """`latest_end`: the time at which the watchdogs of the recipe end it at the latest."""

    system: str
    recipe_id: Id
    job_id: Id
    owner: str
    state: RecipeState
    latest_end: Time


class UnfinishedLending(AnswerPart):
    """`until`: null without an end."""

    system: str
    user: str
    until: Time | None


class UnfinishedUse(AnswerPart):
    """Recipes, reservations and loans that will not have ended when the window starts, or have not yet."""

    recipes: list[UnfinishedRecipe]
    reservations: list[UnfinishedLending]
    loans: list[UnfinishedLending]


class CoveringWindow(MaintenanceWindow):
    """`covered_systems`: the systems that the window covers now, without removed ones."""

    covered_systems: list[str]
    unfinished: UnfinishedUse


class ShownMaintenanceWindow(ReadAnswer, CoveringWindow):
    pass


class MaintenanceWindowList(ListAnswer):
    maintenance_windows: list[MaintenanceWindow]


class MaintenanceWindowAdded(Answer, CoveringWindow):
    """`number`: null after a dry run."""

    number: Id | None  # type: ignore[assignment]
    dry_run: bool


class MaintenanceWindowChanged(Answer):
    number: Id
    changed: bool


class MaintenanceWindowEnded(Answer):
    number: Id
    ended: bool
