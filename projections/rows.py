"""Columns of the tables of the read models (`store/migrations/`), without keys and intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from types import UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin, get_type_hints

from domain.recipe.lifecycle import STARTED

BigInt = Annotated[int, "bigint"]
SmallInt = Annotated[int, "smallint"]


class JobDocumentRow(NamedTuple):
    """The constant properties of a job; `origin` is the job that was copied."""

    job_id: int
    owner: str
    submitter: str
    group_name: str | None
    whiteboard: str
    document: Mapping[str, Any]
    partition: int
    queue: str
    origin: int | None


class RecipeDetailsRow(NamedTuple):
    """The constant properties of a recipe. A guest has a host recipe and a name for its virtual machine.

    `locks` are the declared resource locks, for a host with those of its guests.
    """

    recipe_id: int
    recipe_set_id: int
    job_id: int
    owner: str
    group_name: str | None
    whiteboard: str
    role: str | None
    distro_tree_id: int | None
    distro: Mapping[str, Any] | None
    tasks: Sequence[Mapping[str, Any]]
    host_recipe_id: int | None
    guestname: str | None
    guestargs: str | None
    reservesys: Mapping[str, Any] | None
    locks: Mapping[str, Any]
    partition: int


class AddedSetsRow(NamedTuple):
    """Recipe sets that were added to an open job: `documents` are those of the sets."""

    job_id: int
    documents: Sequence[Mapping[str, Any]]


class RecipeChangeRow(NamedTuple):
    """A change of a recipe by a person: its values after the change, as in the details of the recipe."""

    recipe_id: int
    distro_tree_id: int | None
    distro: Mapping[str, Any] | None
    tasks: Sequence[Mapping[str, Any]]
    locks: Mapping[str, Any]


class ChangedSetRow(NamedTuple):
    """The document of a recipe set after a change; `place` is the index of the set among those of its job."""

    recipe_set_id: int
    job_id: int
    place: int
    document: Mapping[str, Any]


class TaskResultRow(NamedTuple):
    task_id: int
    recipe_id: int
    result: str
    message: str
    score: float | None
    log_urls: Sequence[str]
    path: str
    logs: Sequence[Mapping[str, Any]]


class JobRow(NamedTuple):
    """`changed` has the data of the last JobChanged event, null if there is none.

    `stage` is that of `domain.job.stages`. A job that `is_open` takes further recipe sets. `ended` is the
    time of its end, null before it. `kept` says who keeps its results, `deleted` when they were deleted, and
    the tag (`fold_retention`).
    """

    state: str
    result: str
    retention_tag: str
    changed: Mapping[str, Any] | None = None
    stage: str = "new"
    is_open: bool = False
    ended: datetime | None = None
    kept: Mapping[str, Any] | None = None
    deleted: Mapping[str, Any] | None = None


class JobSystemRow(NamedTuple):
    """A start of a recipe of a job on a system."""

    system: str
    job_id: int


class RecipeSetRow(NamedTuple):
    """`review` and `waiver` say who has reviewed the ended set, or waived its failures (`fold_reviews`)."""

    job_id: int
    priority: str
    state: str
    result: str
    review: Mapping[str, Any] | None = None
    waiver: Mapping[str, Any] | None = None


class RecipeRow(NamedTuple):
    """`reason` comes from the event of the state, if that gives one.

    `awaits_locks`: the recipe is waiting, but its set does not have its resource locks and has not started.
    `attempt` counts its starts, as in `domain.recipe.state`. `preempted`: it waits again because its set was
    preempted.
    """

    state: str
    system: str | None
    lab_controller: str | None
    reason: str | None
    awaits_locks: bool = False
    attempt: int = 1
    preempted: bool = False

    @property
    def started(self) -> bool:
        return self.state in STARTED and not self.awaits_locks


class LockRow(NamedTuple):
    """A resource lock at a level, in the mode Shared or Exclusive; `state` is held or awaited."""

    state: str
    mode: str
    recipe_set_id: int


class ClaimRow(NamedTuple):
    """The claim of a waiting recipe to a busy system; `forced`: the recipe forces the system."""

    system: str
    forced: bool


class TaskRow(NamedTuple):
    """`waiver` says who has waived the failure of the task itself; that of its set is in `RecipeSetRow`."""

    recipe_id: int
    state: str
    result: str
    waiver: Mapping[str, Any] | None = None


class QueueRow(NamedTuple):
    """`priority` is a number to sort by, `submission` the position of the recipe's first event."""

    state: str
    assigned: bool
    priority: SmallInt
    submission: BigInt
    lab_controller: str | None
    partition: int


class WaitRow(NamedTuple):
    """A wait, or the part of it with this priority and requirement. `began` is the beginning of the wait.

    `ahead`: the number of recipes that already waited when the row began, in the partition, with the
    architecture and at least the priority. `requirement` and `arch` are those of `domain.estimates.kinds`.
    """

    partition: int
    priority: SmallInt
    requirement: str
    arch: str
    group_name: str | None
    began: datetime
    ahead: int


class IdleRow(NamedTuple):
    lab_controller: str


class UsageRow(NamedTuple):
    """`unavailable` is one of `domain.system.usage.UNAVAILABLE` if the system is idle and Automated."""

    condition: str
    usage: str
    recipe_id: int | None
    unavailable: str | None


class PersonRow(NamedTuple):
    """The persons who have reserved a system and borrowed it, and the events that began that."""

    reserved_by: str | None
    reserved_position: BigInt | None
    loaned_to: str | None
    loaned_position: BigInt | None


class SystemRow(NamedTuple):
    """`access_policy` is the system's own, null if it never had one.

    `occupied` has the fields of `domain.system.state.Occupation`, null if the system is not occupied.
    """

    lab_controller: str
    owner: str
    condition: str
    draining: bool
    reserved_by: str | None
    reserved_until: datetime | None
    reserved_distro_tree_id: int | None
    loaned_to: str | None
    loaned_until: datetime | None
    access_policy: Sequence[Mapping[str, Any]] | None
    active_pool: str | None
    pools: Sequence[str]
    inventory: Mapping[str, Any]
    occupied: Mapping[str, Any] | None
    ticket: str | None = None


class NoteRow(NamedTuple):
    """A note on a system."""

    fqdn: str
    text: str
    author: str


class DocumentRow(NamedTuple):
    version: BigInt
    document: Mapping[str, Any]


class DurationRow(NamedTuple):
    """Recipes in a bucket and the sum of their seconds, with names of Prometheus that `tuple` lacks."""

    count: BigInt  # type: ignore[assignment]
    seconds: float


class CommandRow(NamedTuple):
    """A command of `domain.lab_commands.derive`, with its state; `reason` is that of a reported failure."""

    lab_controller: str
    kind: str
    system: str | None
    recipe_id: int | None
    distro_tree_id: int | None
    state: str
    reason: str | None
    cause_reason: str | None
    attempt: int | None
    job_id: int | None


_TYPES = {
    str: "text",
    int: "integer",
    float: "double precision",
    bool: "boolean",
    datetime: "timestamptz",
    Mapping: "jsonb",
    Sequence: "jsonb",
}


def types_of(row: type[NamedTuple]) -> dict[str, str]:
    """Return column name -> PostgreSQL type."""
    return dict(_types(get_type_hints(row, include_extras=True)))


def _types(hints: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, hint in hints.items():
        type_ = next(iter(get_args(hint))) if get_origin(hint) in (Union, UnionType) else hint
        if get_origin(type_) is Annotated:
            yield name, type_.__metadata__[0]
        else:
            yield name, _TYPES[get_origin(type_) or type_]
