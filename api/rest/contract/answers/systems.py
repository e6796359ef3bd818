"""Answers about systems, their usage and their users."""

from __future__ import annotations

from api.rest.contract.answers.common import Answer, AnswerPart, ListAnswer, Problem, ReadAnswer
from api.rest.contract.answers.maintenance import MaintenanceWindow
from api.rest.contract.inputs.systems import Properties
from api.rest.contract.values import Condition, DrawnUsage, Id, Link, Time, UsageState


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
    condition: Condition
    usage: UsageState
    recipe_id: Id | None
    since: Time
    until: Time | None
    since_position: int
    until_position: int | None


class SystemHistory(ReadAnswer):
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
    usage: UsageState
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
    """`seconds` by condition and usage. `key` is null for time without a pool, arch, owner or group.

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
