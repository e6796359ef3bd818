"""The context of a change, and protocols of the least parts that use cases need, all in `api.parts.Parts`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from api.caller_slots import CallerSlots
from api.clock import Clock
from api.concurrency_limits import MaxWaits
from api.password_attempts import Attempts
from api.passwords import Hashing
from api.quotas import Quotas
from domain.directory.state import Directory
from domain.directory.visibility import VisibilityIndex
from domain.distro_choice.distro_trees import DistroTrees
from domain.events import Recorded
from domain.job.retention_tags import RetentionTags
from domain.job.submission import Counts, Ids
from store.aggregates import Aggregates
from store.event_log import EventLog
from store.registrations import Registrations
from store.requests import AppendRequest, Committed, Outcome
from store.selection import EVERYTHING, Selection

T = TypeVar("T")


class Log(Protocol):
    """Reads of the log. Each call blocks, and raises DatabaseAway while the database is unavailable."""

    def load(self, after: Mapping[str, int]) -> dict[str, list[Recorded]]: ...

    def select(
        self, after: int, upto: int, limit: int, selection: Selection = EVERYTHING
    ) -> tuple[list[Recorded], int]: ...

    def end(self) -> int: ...

    def commit_of(self, command_id: str) -> Committed | None: ...

    def commits_of(self, command_ids: Sequence[str]) -> dict[str, Committed]: ...


class Appender(Protocol):
    """Appends to the log, in one commit with concurrent requests."""

    async def submit(self, request: AppendRequest, /) -> Outcome: ...


class DirectoryView(Protocol):
    """The directory as this process has read it from the log, up to `position`."""

    directory: Directory
    visibility: VisibilityIndex
    distro_trees: DistroTrees

    @property
    def position(self) -> int: ...

    async def reach(self, position: int) -> None: ...

    async def catch_up(self) -> None: ...

    async def run_long_query(self, caller: str, query: Callable[[], T]) -> T: ...


class JobNumbers(Protocol):
    async def take(self, wanted: Counts) -> Ids: ...

    async def take_all(self, wanted: Sequence[Counts]) -> list[Ids]: ...

    async def last(self) -> int: ...


class ReadModels(Protocol):
    """Rows of the read models, by the name of a query."""

    async def rows(self, query: str, params: Mapping[str, Any]) -> list[dict[str, Any]]: ...

    async def reach(self, position: int, timeout_seconds: float) -> None: ...

    def require_whole(self) -> None: ...


class NameParts(Protocol):
    """Parts to check names and times."""

    @property
    def feed(self) -> DirectoryView: ...

    @property
    def clock(self) -> Clock: ...


class WriteParts(NameParts, Protocol):
    """Parts to decide on a change and append it. `retries` has a slot for the one retry of each caller."""

    @property
    def log(self) -> Log: ...

    @property
    def aggregates(self) -> Aggregates: ...

    @property
    def commits(self) -> Appender: ...

    @property
    def quotas(self) -> Quotas: ...

    @property
    def retries(self) -> CallerSlots: ...


class JobParts(WriteParts, Protocol):
    """Parts to submit and change jobs. The log is an EventLog, for other queries of the database.

    The read models have the dynamic queues that exist.
    """

    @property
    def log(self) -> EventLog: ...

    @property
    def numbers(self) -> JobNumbers: ...

    @property
    def reader(self) -> ReadModels: ...

    @property
    def retention_tags(self) -> RetentionTags: ...


class LabParts(WriteParts, Protocol):
    """Parts to take reports of lab controllers, whose commands are in the read models."""

    @property
    def reader(self) -> ReadModels: ...


class RegistrationParts(LabParts, Protocol):
    """Parts to take registrations of lab controllers. `max_waits` limits the wait for the read models."""

    @property
    def registrations(self) -> Registrations: ...

    @property
    def max_waits(self) -> MaxWaits: ...


class EventParts(WriteParts, Protocol):
    """Parts to change the subject of an event that is found in the log. The log is an EventLog."""

    @property
    def log(self) -> EventLog: ...


class PasswordParts(WriteParts, Protocol):
    """Parts to set and check passwords. The log is an EventLog, for the hashes in the database."""

    @property
    def log(self) -> EventLog: ...

    @property
    def hashing(self) -> Hashing: ...

    @property
    def attempts(self) -> Attempts: ...


@dataclass(frozen=True)
class RequestContext:
    """The actor of a write request, the rights of the actor, and the idempotency key.

    `command_id` and `digest` come from an Idempotency-Key; without the header every attempt is a new command.
    `expected` are the versions that If-Match lists for the subject of the request, None without the header.
    `role` and `token_id` are those of the credential. `has_quota`: whether the quotas of the actor apply.
    `caller` is the user or lab controller whose requests wait for each other, and not for those of others.
    `address` is that of the client, None unless the service keeps addresses.
    """

    actor: str
    request_id: str
    command_id: str | None = None
    digest: bytes | None = None
    is_admin: bool = False
    expected: frozenset[int] | None = None
    role: str | None = None
    token_id: str | None = None
    has_quota: bool = False
    caller: str = ""
    address: str | None = None
