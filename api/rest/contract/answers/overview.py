"""The answer of `/overview`."""

from __future__ import annotations

from api.rest.contract.answers.common import AnswerPart, ReadAnswer
from api.rest.contract.answers.jobs import ListedJob
from api.rest.contract.answers.log import LoggedEvent
from api.rest.contract.answers.reconciliations import Reconciliation
from api.rest.contract.values import Condition, Id, Link, PriorityName, RecipeState, Time, UsageState


class PartitionState(AnswerPart):
    name: str
    state: str


class SystemActivities(AnswerPart):
    """The number of systems by activity; each system counts once.

    `starting`: a recipe is placed, but does not run yet. `had_by_people`: reserved by a person.
    """

    running: int
    starting: int
    had_by_people: int
    idle: int
    manual: int
    draining: int
    broken: int


class LabOverview(AnswerPart):
    """`systems`: all systems but Removed ones. `partition`: null for a lab in no partition."""

    lab_controller: str
    partition: str | None
    enabled: bool
    silent: bool
    never_heard: bool
    last_heard_at: Time | None
    systems: int
    doing: SystemActivities


class AllLabs(AnswerPart):
    """The sums over all labs."""

    systems: int
    doing: SystemActivities


class PriorityOverview(AnswerPart):
    recipes: int
    oldest_submitted_at: Time
    longest_wait_seconds: float


class OldestWait(AnswerPart):
    """An unplaced recipe. It has waited since the submission of its set."""

    recipe_id: Id
    recipe_set_id: Id
    job_id: Id
    state: RecipeState
    priority: PriorityName
    lab_controller: str | None
    owner: str
    group: str | None
    partition: str
    whiteboard: str
    submitted_at: Time
    wait_seconds: float


class QueueOverview(AnswerPart):
    """`by_priority`: priorities with unplaced recipes. `oldest`: the recipes that were submitted first.

    `held_back_now`: the number of recipes by the kind of rule that holds them back, as the schedulers have
    reported in the last seconds; null in answers about the past.
    """

    recipes: int
    by_priority: dict[PriorityName, PriorityOverview]
    oldest: list[OldestWait]
    held_back_now: dict[str, int] | None


class PlacedSet(AnswerPart):
    """`recipes`, `usage` and `systems` are about the members that are shown."""

    recipe_set_id: Id
    job_id: Id
    priority: PriorityName
    owner: str
    group: str | None
    partition: str
    whiteboard: str
    recipes: int
    usage: list[UsageState]
    systems: list[str]


class PlacedOverview(AnswerPart):
    """`recipes`: all that have a system. `recipe_sets`: those of the first ones. `not_shown`: the others."""

    recipes: int
    recipe_sets: list[PlacedSet]
    not_shown: int


class BrokenSystem(AnswerPart):
    """`at`, `reason`: of the change of its condition; null if the system was registered as Broken."""

    fqdn: str
    lab_controller: str
    owner: str
    at: Time | None
    reason: str | None
    ticket: Link | None


class BrokenOverview(AnswerPart):
    """`owned`: the number of systems of the caller, which come first."""

    count: int
    owned: int
    systems: list[BrokenSystem]


class OwnSystem(AnswerPart):
    """A system that the caller owns, has reserved or has on loan."""

    fqdn: str
    lab_controller: str
    owner: str
    condition: Condition
    ticket: Link | None
    draining: bool
    user: str | None
    reserved_until: Time | None
    loaned_to: str | None
    loaned_until: Time | None
    usage: UsageState
    recipe_id: Id | None


class OwnSystems(AnswerPart):
    count: int
    systems: list[OwnSystem]


class Overview(ReadAnswer):
    """The state of the labs, what needs attention, and the jobs and systems of the caller.

    Counts include systems that are hidden from the caller. `problems`: the latest first. `jobs`: of the
    newest jobs of the caller, the unfinished ones first. `occupied`: the systems to reconcile, oldest first.
    """

    partitions: list[PartitionState]
    labs: list[LabOverview]
    all_labs: AllLabs
    queue: QueueOverview
    placed: PlacedOverview
    problems: list[LoggedEvent]
    broken: BrokenOverview
    occupied: list[Reconciliation]
    jobs: list[ListedJob]
    systems: OwnSystems
