"""What may stand behind the `?` of a path: one model for each kind of read, which checks and documents it."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from api.rest.contract.query_values import (
    MAX_LIMIT,
    AsOf,
    Cursor,
    GroupBy,
    Limit,
    Position,
    Subjects,
    Time,
    Topics,
    Truth,
    Wait,
)
from api.rest.contract.values import Condition, Fqdn, Name, RecipeState, UsageState


class Query(BaseModel):
    """Takes nothing. A misspelt parameter must not be dropped in silence: the answer would look like what was
    asked for."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Strict(Query):
    strict: Annotated[
        Truth,
        Field(description="refuse input that is otherwise accepted with a warning, such as unknown names"),
    ] = False


class Caught(Query):
    min_position: Annotated[Position, Field(description="wait until this position is reflected")] = 0


class Read(Caught):
    as_of: Annotated[
        AsOf | None,
        Field(description="a past position or time, rounded down to the end of a commit"),
    ] = None


class Page(Read):
    limit: Annotated[Limit, Field(description="as many at most")] = 100
    cursor: Annotated[Cursor | None, Field(description="where the page before ended, as its `next` says")] = (
        None
    )

    def filters(self) -> dict[str, str | None]:
        """What else is asked of the rows, by name; what is not is None."""
        return {
            name: getattr(self, name) for name in type(self).model_fields if name not in Page.model_fields
        }


class JobPage(Page):
    owner: Annotated[Name | None, Field(description="only those of this user")] = None
    group: Annotated[Name | None, Field(description="only those of this group")] = None
    state: Annotated[RecipeState | None, Field(description="only those in this state")] = None


class QueuePage(Page):
    system: Annotated[
        Fqdn | None,
        Field(description="only those that it is viable for, in the order in which it asks them"),
    ] = None


class SystemPage(Page):
    condition: Annotated[Condition | None, Field(description="only those in this condition")] = None
    usage: Annotated[UsageState | None, Field(description="only those with this usage")] = None
    lab_controller: Annotated[Fqdn | None, Field(description="only those of this lab")] = None
    pool: Annotated[Name | None, Field(description="only those in this pool")] = None
    owner: Annotated[Name | None, Field(description="only those of this user")] = None


class ImportQuery(Query):
    dry_run: Annotated[Truth, Field(description="change nothing, and tell what would change")] = False


class Explained(Read):
    limit: Annotated[Limit, Field(description="as many systems at most")] = 100
    system: Annotated[Fqdn | None, Field(description="this one alone, whatever it is to the recipe")] = None


class Span(Read):
    since: Annotated[Time | None, Field(description="from this moment on")] = None
    until: Annotated[Time | None, Field(description="up to this moment")] = None


class Summed(Span, Page):
    """Sums are short, so that a page of them is as long as any may be."""

    group_by: Annotated[GroupBy, Field(description="one sum for each")] = "system"
    limit: Annotated[Limit, Field(description="as many at most")] = MAX_LIMIT


class EventQuery(Read):
    after: Annotated[Position, Field(description="only what came after this position")] = 0
    limit: Annotated[Limit, Field(description="as many at most")] = 100
    types: Annotated[Topics, Field(description="only these topics")] = ()
    subject: Annotated[Subjects, Field(description="only events of these subjects")] = ()


class ReadsQuery(Query):
    after: Annotated[Position, Field(description="only reads after this one")] = 0
    limit: Annotated[Limit, Field(description="as many at most")] = 100
    user: Annotated[Name | None, Field(description="only those of this user")] = None


class LogUsageQuery(Query):
    since: Annotated[Time | None, Field(description="from the day (UTC) of this moment on; else today")] = (
        None
    )
    limit: Annotated[Limit, Field(description="maximum number of rows")] = MAX_LIMIT
    actor: Annotated[Name | None, Field(description="only the share of this user or process")] = None


class CommandQuery(Read):
    after: Annotated[Position, Field(description="only commands after this one")] = 0
    wait_seconds: Annotated[Wait, Field(description="wait as long for the first one")] = 0
    unfinished: Annotated[Truth, Field(description="only what is not completed or failed")] = False
