"""Models of query parameters, which validate and document them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from api.rest.contract.query_values import (
    MAX_LIMIT,
    AsOf,
    Cursor,
    Fqdns,
    GroupBy,
    Limit,
    Location,
    Number,
    Numbers,
    Position,
    Resolution,
    RetentionTags,
    Subjects,
    Time,
    Topics,
    Truth,
    Wait,
    WaitGroupBy,
)
from api.rest.contract.values import (
    Condition,
    Fqdn,
    LockLevel,
    LockName,
    LockState,
    Name,
    OneOf,
    Reason,
    RecipeState,
    Result,
    SearchedName,
    SearchedText,
    StepName,
    UsageState,
    WindowState,
)
from domain.directory.partitions import DEFAULT
from domain.notifications.retries import STATES as MESSAGE_STATES


class Query(BaseModel):
    """No parameters. Unknown ones are refused: an ignored, misspelt one would give a misleading answer."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ForeignQuery(Query):
    """Parameters that another service sends. Unknown ones are ignored, because it may send more."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Strict(Query):
    strict: Annotated[
        Truth, Field(description="treat warnings, such as those about unknown names, as errors")
    ] = False


class Caught(Query):
    min_position: Annotated[Position, Field(description="wait until this position is reflected")] = 0


class ReadQuery(Caught):
    as_of: Annotated[
        AsOf | None,
        Field(description="answer as of this past position or time, rounded down to the end of a commit"),
    ] = None


class PresentPage(Caught):
    """A page of a list that has no past."""

    limit: Annotated[Limit, Field(description="maximum number of items")] = 100
    cursor: Annotated[Cursor | None, Field(description="`next` of the previous page")] = None


class Page(PresentPage, ReadQuery):
    def filters(self) -> dict[str, str | int | None]:
        """Return the parameters of a subclass by name, None for those that were not given."""
        return {
            name: getattr(self, name) for name in type(self).model_fields if name not in Page.model_fields
        }


class PartitionPage(Page):
    partition: Annotated[Name | None, Field(description="only what belongs to this partition")] = None


class GroupPage(Page):
    user: Annotated[Name | None, Field(description="only groups that have this member or owner")] = None


class PoolPage(Page):
    owner_group: Annotated[Name | None, Field(description="only pools of this group")] = None


class RerunQuery(ReadQuery):
    failed: Annotated[Truth, Field(description="only the recipe sets with a failure that is not waived")] = (
        False
    )
    sets: Annotated[Numbers, Field(description="only these recipe sets of the job")] = ()


class OtherTags(BaseModel):
    tags: Annotated[
        RetentionTags,
        Field(description="these retention tags, such as scratch:30, in place of the configured ones"),
    ] = ()


class RetentionQuery(Caught, OtherTags):
    limit: Annotated[Limit, Field(description="maximum number of jobs")] = 100


class RetentionView(ReadQuery, OtherTags):
    pass


class PartitionRead(ReadQuery):
    partition: Annotated[Name | None, Field(description="only what belongs to this partition")] = None


class QueueFilters(PartitionPage):
    system: Annotated[
        Fqdn | None,
        Field(
            description="only recipes that this system is viable for, in its order, which weights influence"
        ),
    ] = None


class QueuePage(QueueFilters):
    reasons: Annotated[Truth, Field(description="add the current reason why each recipe waits")] = False
    estimates: Annotated[Truth, Field(description="add the estimate of the time left of each recipe")] = False


class LockPage(Page):
    level: Annotated[LockLevel | None, Field(description="only locks of this level")] = None
    name: Annotated[
        LockName | None, Field(description="only locks on this name, those on everything included")
    ] = None
    state: Annotated[LockState | None, Field(description="only held, or only awaited locks")] = None


class ReconciliationPage(Page):
    lab_controller: Annotated[Fqdn | None, Field(description="only systems of this lab")] = None


class MaintenancePage(Page):
    system: Annotated[Fqdn | None, Field(description="only windows that cover this system")] = None
    state: Annotated[WindowState | None, Field(description="only windows in this state")] = None


class ClaimPage(Page):
    system: Annotated[Fqdn | None, Field(description="only the claim to this system")] = None
    recipe_id: Annotated[Number | None, Field(description="only the claim of this recipe")] = None


class SystemFilters(PartitionPage):
    condition: Annotated[Condition | None, Field(description="only systems in this condition")] = None
    lab_controller: Annotated[Fqdn | None, Field(description="only systems of this lab")] = None
    pool: Annotated[Name | None, Field(description="only systems in this pool")] = None
    owner: Annotated[Name | None, Field(description="only systems of this user")] = None


class SystemPage(SystemFilters):
    usage: Annotated[UsageState | None, Field(description="only systems with this usage")] = None
    location: Annotated[Location | None, Field(description="only systems at this location")] = None
    draining: Annotated[Truth | None, Field(description="only systems that drain, or with false do not")] = (
        None
    )


class ImportQuery(Query):
    dry_run: Annotated[Truth, Field(description="only report what would change")] = False


class DryRunQuery(Query):
    dry_run: Annotated[Truth, Field(description="validate, report what would change, and store nothing")] = (
        False
    )


class LdapSyncQuery(DryRunQuery):
    force: Annotated[
        Truth, Field(description="sync even if many people lose rights, or a group is empty in LDAP")
    ] = False


class EndingQuery(Query):
    """A request that ends something, and has no body."""

    reason: Annotated[
        Reason | None, Field(description="why it ends, which the log and the histories show")
    ] = None


class ForceQuery(EndingQuery):
    force: Annotated[
        Truth, Field(description="abort what is unfinished, and end reservations, before the removal")
    ] = False


class UsedQuery(EndingQuery):
    force: Annotated[Truth, Field(description="remove it although something uses it")] = False


class OfPartition(Query):
    partition: Annotated[Name, Field(description="the partition of the job filter")] = DEFAULT


class JobFilterPage(Page):
    partition: Annotated[Name, Field(description="the partition of the job filters")] = DEFAULT


class JobFilterQuery(ReadQuery, OfPartition):
    pass


class JobFilterRemovalQuery(EndingQuery, OfPartition):
    pass


class JobFilterPutQuery(DryRunQuery, OfPartition):
    pass


class ResultQuery(ReadQuery):
    failed: Annotated[
        Truth, Field(description="only what failed and is not waived: results of Warn, Fail and Panic")
    ] = False


class Explained(ReadQuery):
    limit: Annotated[Limit, Field(description="maximum number of systems")] = 100
    system: Annotated[Fqdn | None, Field(description="only this system, even if it is not a candidate")] = (
        None
    )


BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""The beginning of a time span that is not given: before any event."""


class Span(ReadQuery):
    since: Annotated[Time | None, Field(description="begin of the time span")] = None
    until: Annotated[Time | None, Field(description="end of the time span")] = None

    @field_validator("until")
    @classmethod
    def _after_since(cls, until: datetime | None, given: ValidationInfo) -> datetime | None:
        since = given.data.get("since")
        if until is not None and since is not None and until < since:
            raise ValueError("must not be before since")
        return until


class JobPage(Span, PartitionPage):
    since: Annotated[Time | None, Field(description="only jobs submitted at this time or later")] = None
    until: Annotated[Time | None, Field(description="only jobs submitted before this time")] = None
    owner: Annotated[Name | None, Field(description="only jobs of this user")] = None
    mine: Annotated[Truth, Field(description="only jobs that the caller owns")] = False
    group: Annotated[Name | None, Field(description="only jobs of this group")] = None
    state: Annotated[RecipeState | None, Field(description="only jobs in this state")] = None
    result: Annotated[Result | None, Field(description="only jobs with this result")] = None
    whiteboard: Annotated[
        SearchedText | None,
        Field(description="only jobs with this text in their whiteboard, in upper or lower case"),
    ] = None
    task: Annotated[SearchedName | None, Field(description="only jobs with a task of this name")] = None
    product: Annotated[SearchedName | None, Field(description="only jobs of this product")] = None
    system: Annotated[
        Fqdn | None, Field(description="only jobs with a recipe that has started on this system")
    ] = None


class ReportQuery(ReadQuery):
    since: Annotated[
        Time | None, Field(description="begin of the time span; without it, the last 30 days")
    ] = None
    limit: Annotated[Limit, Field(description="maximum number of items of each list")] = 20


class IntervalPage(Span, Page):
    """Intervals are short, so the default page is the largest one. A moment is both `since` and `until`."""

    limit: Annotated[Limit, Field(description="maximum number of items")] = MAX_LIMIT


class Summed(Span, PartitionPage):
    """Sums are short, so the default page is the largest one."""

    group_by: Annotated[
        GroupBy,
        Field(
            description="group the sums by this; owner and group are those of the job that has the system,"
            " or the person who reserved it; user is the owner, or the person who borrowed it"
        ),
    ] = "system"
    step: Annotated[
        StepName | None, Field(description="also sum each hour or day (UTC) of the time span")
    ] = None
    limit: Annotated[Limit, Field(description="maximum number of items")] = MAX_LIMIT


class WaitPage(Span, PartitionPage):
    by: Annotated[WaitGroupBy, Field(description="group the waits by this")] = "priority"


class TimelinePage(Span, SystemFilters):
    """The filters are those of the list of systems; `owner` is that of the system."""

    since: Annotated[
        Time | None, Field(description="begin of the time span; default: 24 hours before its end")
    ] = None
    fqdn: Annotated[Fqdns, Field(description="only these systems")] = ()
    resolution_seconds: Annotated[
        Resolution,
        Field(
            description="intervals that are shorter become mixed; at least a thousandth of the time span,"
            " or 0 for the exact intervals"
        ),
    ] = 0


class EventQuery(Span):
    after: Annotated[Position, Field(description="only events after this position")] = 0
    before: Annotated[Position | None, Field(description="only events before this position")] = None
    newest_first: Annotated[Truth, Field(description="newest event first, for pages")] = False
    limit: Annotated[Limit, Field(description="maximum number of items")] = 100
    types: Annotated[Topics, Field(description="only these topics")] = ()
    subject: Annotated[Subjects, Field(description="only events of these subjects")] = ()
    partition: Annotated[
        Name | None,
        Field(description="only events of this partition, without those that concern all partitions"),
    ] = None
    actor: Annotated[Name | None, Field(description="only events of this user or process")] = None


class CausedQuery(ReadQuery):
    caused_after: Annotated[
        Position | None, Field(description="search the events that it caused after this position")
    ] = None


class ReadsQuery(Query):
    after: Annotated[Position, Field(description="only reads with an id above this one")] = 0
    before: Annotated[Position | None, Field(description="only reads with an id below this one")] = None
    newest_first: Annotated[Truth, Field(description="newest read first")] = False
    limit: Annotated[Limit, Field(description="maximum number of items")] = 100
    user: Annotated[Name | None, Field(description="only reads of this user")] = None


class ReadsPageQuery(ReadsQuery, ReadQuery):
    """The reads up to a moment: pages of other moments lead there."""


class LogUsageQuery(Query):
    since: Annotated[Time | None, Field(description="first day (UTC), as a time in it; default: today")] = (
        None
    )
    limit: Annotated[Limit, Field(description="maximum number of rows")] = MAX_LIMIT
    actor: Annotated[Name | None, Field(description="only the share of this user or process")] = None


class MessagePage(Page):
    state: Annotated[str | None, OneOf(MESSAGE_STATES), Field(description="only messages in this state")] = (
        None
    )


class AllMessagesPage(MessagePage):
    user: Annotated[Name | None, Field(description="only messages to this user")] = None


class CommandQuery(ReadQuery):
    after: Annotated[Position, Field(description="only commands with an id above this one")] = 0
    wait_seconds: Annotated[Wait, Field(description="maximum number of seconds to wait for a command")] = 0
    unfinished: Annotated[Truth, Field(description="only commands that have not completed or failed")] = False
