"""Answers about the state, the configuration, the operation table and the job filters of a partition."""

from __future__ import annotations

from typing import Annotated, Any

from api.rest.contract.answers.common import Answer, AnswerPart, ListAnswer, ReadAnswer
from api.rest.contract.inputs.partitions import Configuration, JobFilter
from api.rest.contract.inputs.queues import Grantees, QueueLimit, QueueTemplate
from api.rest.contract.values import Count, Id, OneOf, PriorityName, Time
from domain.directory.partitions import CONFIGURED_ROW, SHIPPED_ROW
from domain.intake_states import STATES
from domain.queues.tree import ORDERS_OF_PARENTS


class NamedPartition(AnswerPart):
    """`state`: active; draining: no new jobs; stopped: no new jobs, no grants and no resource locks."""

    name: str
    state: Annotated[str, OneOf(STATES)]


class ListedPartition(NamedPartition):
    lab_controllers: list[str]


class PartitionShown(ReadAnswer, ListedPartition):
    pass


class PartitionList(ReadAnswer):
    partitions: list[ListedPartition]


class PartitionMoved(Answer, NamedPartition):
    """`changed` is false if the partition had the state already."""

    changed: bool


class PartitionCreated(Answer, NamedPartition):
    """`added` is false if there was a partition of this name."""

    added: bool


class PartitionRemoved(Answer):
    """`aborted_recipe_sets`: number that the request aborted; `lab_controllers`: labs in no partition now."""

    name: str
    removed: bool
    aborted_recipe_sets: Count
    lab_controllers: list[str]


class ConfigurationShown(ReadAnswer, Configuration):
    """The configuration in force, with the defaults where nothing else was configured."""


class ListedConfiguration(AnswerPart):
    """A version of a configuration. `version` is that of the partition, which job filters change, too."""

    version: Id
    position: Count
    recorded_at: Time
    actor: str


class ConfigurationList(ReadAnswer):
    """The versions of a configuration, oldest first."""

    configurations: list[ListedConfiguration]


class ConfigurationVersionShown(ReadAnswer, Configuration):
    version: Id
    recorded_at: Time
    actor: str


class QueueChanges(AnswerPart):
    """The paths of queues that are new, that have other properties, and that are no longer named."""

    added: list[str]
    changed: list[str]
    drained: list[str]


class ListedQueue(AnswerPart):
    """A queue with its usage and that of the queues below it.

    `used`: systems that its recipes hold. `jobs`: jobs with systems. `waiting`: recipes without a system,
    guests not counted. `share`: used systems for each guaranteed one; a queue without a guarantee counts as
    one with 1. `is_dynamic`: the queue has the properties of its parent's template, and exists while jobs are
    in it. The `max` of root is the number of its systems. A queue that the configuration no longer names is
    draining. `submit` and `admin` are the rights of the queue itself; those of the queues above hold, too.
    """

    path: str
    state: Annotated[str, OneOf(STATES)]
    is_dynamic: bool
    max: int | None
    guaranteed: int | None
    max_jobs: int | None
    order: Annotated[str, OneOf(ORDERS_OF_PARENTS)]
    priority_offset: int
    fence: bool
    limits: list[QueueLimit]
    submit: Grantees
    admin: Grantees
    template: QueueTemplate | None
    used: int
    share: float
    jobs: int
    waiting: int


class QueueShown(ReadAnswer, ListedQueue):
    pass


class QueueList(ReadAnswer):
    """The queues in the order of the tree, each before those below it.

    Queues that the configuration does not name, but that have jobs, come behind the others of their parent.
    """

    queues: list[ListedQueue]


class HeldBackSet(AnswerPart):
    """`effect`: the set waits, or the scheduler ends it: it is cancelled or aborted."""

    effect: Annotated[str, OneOf(("wait", "cancel", "abort"))]
    reason: str


class AffectedSet(AnswerPart):
    """An unfinished recipe set whose admission the rules would change.

    `applies`: the job filter that would apply to the set. `before` and `after`: why the set is held back now,
    and would be by the rules. No rule touches a `placed` set, which holds systems or has started.
    """

    recipe_set_id: Id
    job_id: Id
    owner: str
    priority: PriorityName
    placed: bool
    applies: str | None
    before: HeldBackSet | None
    after: HeldBackSet | None


class AdmissionEffects(AnswerPart):
    """Counts of unfinished sets that a dry run would hold back or end, and free; the first of these sets.

    Room under limits is judged for each set alone.
    """

    held_back: int
    freed: int
    recipe_sets: list[AffectedSet]


class MatchedSet(AffectedSet):
    """An unfinished recipe set that the job filter matches, or whose admission it would change."""

    matches: bool


class JobFilterEffects(AnswerPart):
    """Counts of unfinished sets that the job filter would match, hold back or end, and free.

    `recipe_sets`: the first of these sets. Room under limits is judged for each set alone.
    """

    matching: int
    held_back: int
    freed: int
    recipe_sets: list[MatchedSet]


class ConfigurationPut(Answer, Configuration):
    """`changed` is false for content that was in force. `replaced`: former values of the changed sections.

    `dry_run`: nothing was stored, and `effects` says what the configuration would do; otherwise null.
    """

    changed: bool
    replaced: dict[str, Any]
    queue_changes: QueueChanges
    dry_run: bool
    effects: AdmissionEffects | None


class ShownOperation(AnswerPart):
    """`source`: shipped with this version, or from the configuration, which may replace a shipped row."""

    operation: str
    tasks: list[str]
    locks: dict[str, Any]
    source: Annotated[str, OneOf((SHIPPED_ROW, CONFIGURED_ROW))]
    replaces_shipped: bool


class OperationTableShown(ReadAnswer):
    """The operation table in force for jobs that are submitted now."""

    operations: list[ShownOperation]


class NamedJobFilter(JobFilter):
    """`watermark`: the last job id given out when the present content was put."""

    name: str
    watermark: Count


class JobFilterShown(ReadAnswer, NamedJobFilter):
    pass


class JobFilterList(ListAnswer):
    """Job filters in the order in which they are taken."""

    filters: list[NamedJobFilter]


class JobFilterPut(Answer, NamedJobFilter):
    """`added` and `changed` are false for content that was in force.

    `dry_run`: nothing was stored, and `effects` says what the job filter would do; otherwise null.
    """

    added: bool
    changed: bool
    dry_run: bool
    effects: JobFilterEffects | None


class JobFilterRemoved(Answer):
    """`removed` is false if it was removed before."""

    name: str
    removed: bool
