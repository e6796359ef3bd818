"""Protocols of the parts that each resource needs. `api.parts.Parts` has all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from api.concurrency_limits import ActiveRequests, MaxWaits
from api.feed import Feed
from api.item_pace import ItemPace
from api.metrics.slow_metrics import SlowMetrics
from api.oidc.sign_in import SignIn
from api.password_attempts import FaultyLogins
from api.rest.cached_waits import RecentWaits
from api.use_cases.ldap_sync import LdapParts
from api.use_cases.ports import (
    EventParts,
    JobParts,
    LabParts,
    NameParts,
    PasswordParts,
    RegistrationParts,
    WriteParts,
)
from domain.errors import Unknown
from domain.job.retention_tags import RetentionTags
from projections.reader import Reader
from store.aggregates import Aggregates
from store.contacts import Contacts
from store.event_log import EventLog
from store.group_commit import GroupCommit
from workers.explaining.explainers import Explainers


class FeedParts(NameParts, Protocol):
    @property
    def log(self) -> EventLog: ...

    @property
    def feed(self) -> Feed: ...


class ReadParts(FeedParts, Protocol):
    @property
    def reader(self) -> Reader: ...

    @property
    def max_waits(self) -> MaxWaits: ...

    @property
    def address_days(self) -> int: ...


class ChangeParts(ReadParts, WriteParts, Protocol):
    """Parts to read and change."""


class GateParts(FeedParts, Protocol):
    @property
    def address_days(self) -> int: ...

    @property
    def contacts(self) -> Contacts: ...


class MetricParts(ReadParts, Protocol):
    """Parts to answer the metrics."""

    @property
    def slow_metrics(self) -> SlowMetrics: ...


class ExplainParts(ReadParts, Protocol):
    @property
    def aggregates(self) -> Aggregates: ...

    @property
    def explainers(self) -> Explainers: ...


class QueueParts(ExplainParts, Protocol):
    """Parts to read the queue with reasons and estimates."""

    @property
    def recent_waits(self) -> RecentWaits: ...


class JobBodyParts(NameParts, Protocol):
    @property
    def log(self) -> EventLog: ...

    @property
    def retention_tags(self) -> RetentionTags: ...

    @property
    def active_requests(self) -> ActiveRequests: ...


class NotificationParts(ReadParts, EventParts, Protocol):
    """Parts to show and choose notifications; `default_kinds` are those by mail."""

    @property
    def default_kinds(self) -> Sequence[str]: ...


class SubmissionParts(JobBodyParts, JobParts, Protocol):
    """Parts to read and submit jobs."""


class JobResourceParts(ReadParts, SubmissionParts, Protocol):
    """Parts of jobs."""


class MatchParts(ExplainParts, JobBodyParts, Protocol):
    """Parts to match jobs with systems."""


class JobFilterParts(ExplainParts, JobParts, Protocol):
    """Parts of job filters, whose watermarks are job ids."""


class PartitionParts(ExplainParts, JobParts, Protocol):
    """Parts of partitions, whose removal reads the unfinished recipe sets."""


class RecipeParts(ExplainParts, WriteParts, Protocol):
    """Parts of recipes and recipe sets."""


class RecipeResourceParts(RecipeParts, SubmissionParts, Protocol):
    """Parts to show recipes, to change them, and to report on them."""


class CommandParts(ReadParts, LabParts, Protocol):
    """Parts of the commands of lab controllers."""


class UpdateParts(RegistrationParts, SubmissionParts, Protocol):
    """Parts of messages of lab controllers."""

    @property
    def item_pace(self) -> ItemPace: ...


class LdapSyncParts(ReadParts, LdapParts, Protocol):
    """Parts of the LDAP sync."""


class DocumentParts(ReadParts, PasswordParts, Protocol):
    """Parts of users, groups, pools, lab controllers and distro trees."""

    @property
    def contacts(self) -> Contacts: ...


class PageParts(
    JobResourceParts, RecipeResourceParts, MatchParts, DocumentParts, NotificationParts, Protocol
):
    """Parts of pages with actions, which read, explain and change."""


class QueuePageParts(QueueParts, PageParts, Protocol):
    """Parts of the page of the queue, with actions on its recipe sets."""


class OverviewParts(ReadParts, Protocol):
    @property
    def contacts(self) -> Contacts: ...


class SessionParts(PasswordParts, Protocol):
    @property
    def faulty_logins(self) -> FaultyLogins: ...

    @property
    def sign_in(self) -> SignIn | None: ...


class ReadinessParts(ReadParts, Protocol):
    @property
    def commits(self) -> GroupCommit: ...


def sign_in_options(parts: SessionParts) -> SignIn:
    """Return the sign-in at the identity provider. Raises Unknown if this service has none."""
    if parts.sign_in is None:
        raise Unknown("identity provider", "this service takes passwords only")
    return parts.sign_in
