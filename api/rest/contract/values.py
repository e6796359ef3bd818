"""The single values that inputs, parameters and answers are made of."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BeforeValidator,
    Field,
    StringConstraints,
    WithJsonSchema,
)

from api.intake.words import printable
from domain.command.lifecycle import COMMAND
from domain.directory.roles import ROLES
from domain.recipe.lifecycle import RECIPE, TASK
from domain.roll_up import RESULT_ORDER
from domain.system.lifecycle import USAGE


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


def _role(role: str) -> str:
    if role not in ROLES:
        raise ValueError(f"{role[:100]!r} is none of {', '.join(ROLES)}")
    return role


def _one_of(*words: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "enum": list(words)})


def no_defaults(schema: dict[str, Any]) -> None:
    """For a model of what may change: what is left out stays, so its defaults say nothing."""
    for described in schema.get("properties", {}).values():
        described.pop("default", None)


NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._@+-]*$"
FQDN_PATTERN = (
    r"^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$"
)
MAIL_PATTERN = r"^[^@\s]+@[^@\s]+$"
NUMBER_PATTERN = r"^[1-9][0-9]{0,9}$"

Name = Annotated[str, StringConstraints(min_length=1, max_length=255, pattern=NAME_PATTERN)]
Fqdn = Annotated[str, StringConstraints(max_length=253, pattern=FQDN_PATTERN)]
Text = Annotated[str, StringConstraints(max_length=4_096), AfterValidator(printable)]
Moment = Annotated[AwareDatetime, BeforeValidator(_text_only), AfterValidator(_utc)]
# Of answers: written by this service, so nobody checks it again.
Time = Annotated[datetime, WithJsonSchema({"type": "string", "format": "date-time"})]
Count = Annotated[int, Field(ge=0, le=2**31 - 1)]
# An id in a path: the one way to write a number from 1 to 2^31 - 1.
Number = Annotated[str, StringConstraints(pattern=NUMBER_PATTERN), AfterValidator(_below_2_31)]
Id = Annotated[int, Field(ge=1, le=2**31 - 1)]

Mail = Annotated[str, StringConstraints(max_length=255, pattern=MAIL_PATTERN)]
Role = Annotated[str, AfterValidator(_role), _one_of(*ROLES)]

# How long one has to be is up to the use case: so that what is wrong with it is told in its words.
Password = Annotated[str, StringConstraints(min_length=1, max_length=1_024)]

PriorityName = Literal["Low", "Medium", "Normal", "High", "Urgent"]
Condition = Literal["Automated", "Manual", "Broken", "Removed"]

# Of answers: what the state machines of the domain have.
RecipeState = Annotated[str, _one_of(*RECIPE.states)]
TaskState = Annotated[str, _one_of(*TASK.states)]
CommandState = Annotated[str, _one_of(*COMMAND.states)]
UsageState = Annotated[str, _one_of(*USAGE.states)]
Result = Annotated[str, _one_of(*RESULT_ORDER)]
