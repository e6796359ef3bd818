"""The JSON that clients send, as models that check it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
)

from api.intake.words import printable


def _text_only(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError("must be an RFC 3339 time with a zone")
    return value


def _utc(moment: datetime) -> datetime:
    """One zone for all, so that moments can be compared as they are written."""
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("is before the first or after the last year") from None


def _below_2_31(text: str) -> str:
    if int(text) >= 2**31:
        raise ValueError("must be below 2^31")
    return text


Name = Annotated[
    str, StringConstraints(min_length=1, max_length=255, pattern=r"^[A-Za-z0-9][A-Za-z0-9._@+-]*$")
]
Fqdn = Annotated[
    str,
    StringConstraints(
        max_length=253,
        pattern=r"^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$",
    ),
]
Text = Annotated[str, StringConstraints(max_length=4_096), AfterValidator(printable)]
Moment = Annotated[AwareDatetime, BeforeValidator(_text_only), AfterValidator(_utc)]
Count = Annotated[int, Field(ge=0, le=2**31 - 1)]
# An id in a path: the one way to write a number from 1 to 2^31 - 1.
Number = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]{0,9}$"), AfterValidator(_below_2_31)]
Id = Annotated[int, Field(ge=1, le=2**31 - 1)]


class Input(BaseModel):
    """Unknown fields are faults: a misspelt one must not be dropped in silence."""

    model_config = ConfigDict(extra="forbid")


class User(Input):
    pass


class Group(Input):
    owners: list[Name] = []
    members: list[Name] = []


class Pool(Input):
    owner_group: Name | None = None


class LabController(Input):
    enabled: bool = True


class DistroTree(Input):
    name: Name
    family: Name
    version: Text = ""
    arch: Name
    variant: Text = ""
    tags: list[Name] = []
    urls: dict[Fqdn, list[Text]] = {}
    added_at: Moment | None = None


class Token(Input):
    user: Name
    role: Name
    lab_controller: Fqdn | None = None


class Cancel(Input):
    reason: Annotated[Text, StringConstraints(min_length=1)]


class PriorityChange(Input):
    """A model of what may change has defaults that nobody reads: null is no value for what must have one."""

    priority: Literal["Low", "Medium", "Normal", "High", "Urgent"] = "Normal"


class CommandReport(Input):
    state: Literal["running", "completed", "failed"]
    reason: Text = ""


class ProgressItem(Input):
    """One of the forms of api.md, told apart by which fields are there (`progress.read_report`)."""

    state: Literal["installing", "running", "completed", "aborted"] | None = None
    task_id: Id | None = None
    result: Literal["Pass", "Warn", "Fail", "Panic", "Skip", "None"] | None = None
    message: Text | None = None
    score: Annotated[float, Field(allow_inf_nan=False)] | None = None
    log_urls: list[Text] | None = None
    reason: Text | None = None
    watchdog_seconds: Count | None = None


class RecipeProgress(ProgressItem):
    """One of many: it says which recipe it is about."""

    recipe_id: Id


class Release(Input):
    """Of a recipe, by its lab controller."""

    recipe_id: Id
    reason: Text = "released by its lab controller"


class Updates(Input):
    """Items are checked one by one, because each has its own answer."""

    items: Annotated[list[dict[str, Any]], Field(max_length=1_000)]
