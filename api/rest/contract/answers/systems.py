"""Answers about systems, their usage and their users."""

from __future__ import annotations

from api.rest.contract.answers.common import Answer, AnswerPart, FaultShape, ListAnswer, Problem, ReadAnswer
from api.rest.contract.answers.maintenance import MaintenanceWindow
from api.rest.contract.inputs.systems import Properties
from api.rest.contract.values import (
    Condition,
    DrawnEnd,
    DrawnUsage,
    Id,
    Link,
    Time,
    Unavailable,
    UsageState,
    UseKind,
)


class Occupied(AnswerPart):
    """The process on a system that does not have it: a recipe if the lab controller named one.

    `id`: that of the reconciliation.
    """

    id: int
    reason: str
    recipe_id: Id | None
    attempt: int | None


class ListedSystem(Properties):
    """Unknown properties are left out. `user`: the person who reserved it. `loaned_to`: the borrower.

    `partition`: that of its lab, null if the lab is in none. `ticket`: a link to a report about why the
    system is not Automated.
    """

    fqdn: str
    lab_controller: str
    partition: str | None
    owner: str
    condition: Condition
    ticket: Link | None
    pools: list[str]
    user: str | None
    reserved_until: Time | None
    loaned_to: str | None
    loaned_until: Time | None
    draining: bool
    occupied: Occupied | None
    usage: UsageState
    recipe_id: Id | None


class System(ReadAnswer, ListedSystem):
    """`claimed_by`: the recipe that the system asks first when it comes free.

    `maintenance_windows`: those that cover it and have not ended, newest first, at most 100.
    """

    claimed_by: Id | None
    maintenance_windows: list[MaintenanceWindow]


class SystemList(ListAnswer):
    systems: list[ListedSystem]


class SystemRegistered(Answer):
    fqdn: str


class SystemChanged(Answer):
    fqdn: str
    changed: bool


class PowerSet(SystemChanged):
    """`warnings`: about a type that is not usual, and that no other system has."""

    warnings: list[FaultShape]


class BatchChangedSystem(AnswerPart):
    """A system of a partition whose commit succeeded."""

    fqdn: str
    status: int
    changed: bool


class BatchProblem(Problem):
    """A system of a partition whose commit failed, with the error."""

    fqdn: str


class BatchChanged(Answer):
    """The answers for the systems, in the order of the request."""

    dry_run: bool
    systems: list[BatchChangedSystem | BatchProblem]


class UsageInterval(AnswerPart):
    """The part of an interval that is in the time span; `begun_at` is the begin of all of it.

    `until` is null if it goes on at the moment of the read. `usage` is `unregistered` before the system was
    added, without a condition. `unavailable` is why an idle Automated system takes nothing new.

    `kind` is what has the system; `user` is the owner of the job, or the person. `ordered_by` is the actor of
    the event at `ordered_position`, which submitted the recipe, or began the reservation or the loan.
    `loaned_to` is the borrower, also while a recipe or a reservation has the system.
    """

    condition: Condition | None
    usage: DrawnUsage
    unavailable: Unavailable | None
    recipe_id: Id | None
    job_id: Id | None
    kind: UseKind | None
    user: str | None
    ordered_by: str | None
    ordered_position: int | None
    loaned_to: str | None
    since: Time
    until: Time | None
    seconds: float
    begun_at: Time
    since_position: int
    until_position: int | None


class SystemHistory(ListAnswer):
    """The seconds of the intervals of all pages add up to the time span.

    `since` is the registration if it is not given. `until` is at most the moment of the read.
    """

    since: Time
    until: Time
    intervals: list[UsageInterval]


class UsageShare(AnswerPart):
    """The seconds of a condition and usage in a mixed interval."""

    condition: Condition | None
    usage: DrawnUsage
    seconds: float


class TimelineInterval(AnswerPart):
    """The part of an interval that is in the time span.

    `usage`: `unregistered` before the system was added; `mixed` for neighbours that are shorter than the
    resolution, with their `shares`. Both have no condition. `user`: the owner of the job, or the person who
    reserved the system.
    """

    since: Time
    until: Time
    seconds: float
    condition: Condition | None
    usage: DrawnUsage
    recipe_id: Id | None
    job_id: Id | None
    user: str | None
    shares: list[UsageShare]


class TimelineEnd(AnswerPart):
    """The state of a system at the end of the time span, also if the last interval is mixed."""

    condition: Condition
    usage: DrawnEnd
    recipe_id: Id | None
    user: str | None


class TimelineSystem(AnswerPart):
    """A system as of the read. The seconds of `intervals` add up to those of the time span.

    `at_end` is null if the system was added later.
    """

    fqdn: str
    lab_controller: str
    owner: str
    condition: Condition
    pools: list[str]
    intervals: list[TimelineInterval]
    at_end: TimelineEnd | None


class Timeline(ListAnswer):
    since: Time
    until: Time
    resolution_seconds: int
    systems: list[TimelineSystem]


class IdleSystem(AnswerPart):
    fqdn: str
    lab_controller: str
    partition: str | None
    since: Time
    since_position: int


class IdlePool(ListAnswer):
    systems: list[IdleSystem]


class UsageStep(AnswerPart):
    """`seconds` by condition and usage in one hour or day, cut at the ends of the time span."""

    since: Time
    until: Time
    seconds: dict[str, dict[str, float]]


class UsageSum(AnswerPart):
    """`seconds` by condition and usage. `key` is null for time without a pool, arch, owner, group or user.

    Idle time of Automated systems that take nothing new is `draining`, `occupied` or `disabled`.

    `steps`: only with `step`; those in which the group has any time.
    """

    key: str | None
    seconds: dict[str, dict[str, float]]
    steps: list[UsageStep] | None = None


class SystemUsage(ListAnswer):
    since: Time
    until: Time
    groups: list[UsageSum]


class Power(Answer):
    """`has_secret`: whether a secret is set, which only the lab controller of the system gets."""

    type: str
    address: str
    port: str | None
    user: str | None
    has_secret: bool


class PowerOfSystem(AnswerPart):
    """`has_secret`: whether a secret is set, which only the lab controller of the system gets."""

    fqdn: str
    type: str
    address: str
    port: str | None
    user: str | None
    has_secret: bool


class PowerSettingsList(ListAnswer):
    power_settings: list[PowerOfSystem]


class PowerForLab(Answer):
    type: str
    address: str
    port: str | None
    user: str | None
    secret: str | None


class SystemNote(AnswerPart):
    """`author`: the user who added it. `at`: when."""

    id: int
    at: Time
    author: str
    text: str


class SystemNotes(ListAnswer):
    notes: list[SystemNote]


class NoteAdded(Answer):
    id: int


class NoteRemoved(Answer):
    id: int


class UnusedSystem(AnswerPart):
    """`last_used_at` is null if no recipe and no person ever had the system."""

    fqdn: str
    lab_controller: str
    owner: str
    condition: Condition
    registered_at: Time
    last_used_at: Time | None


class UserTime(AnswerPart):
    """The time of all systems that a user had in the time span, by recipes, reservations and loans."""

    user: str
    seconds: float


class WaitingRequirement(AnswerPart):
    """The digest of a requirement on systems, with the recipe that has waited longest for it.

    `recipes` is the number of recipes that wait for it, each for one system; `since` is the begin of the
    longest wait.
    """

    requirement: str
    recipes: int
    recipe_id: Id
    since: Time
    wait_seconds: float


class UsageReport(ReadAnswer):
    """`unused_systems`: those that were there all the time and that nobody used, unused longest first."""

    since: Time
    until: Time
    unused_systems: list[UnusedSystem]
    users: list[UserTime]
    waiting_requirements: list[WaitingRequirement]


class Reserved(Answer):
    fqdn: str
    user: str
    until: Time | None
    distro_tree: Id | None


class Extended(Answer):
    """`until`: the deadline of the recipe, or the end of the reservation or loan, after the extension."""

    until: Time


class SystemReturned(Answer):
    fqdn: str
    returned: bool
