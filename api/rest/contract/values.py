"""The single values that inputs, parameters and answers are made of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    Strict,
    StringConstraints,
    WithJsonSchema,
)
from pydantic_core import CoreSchema, core_schema

from api.intake.words import number, printable
from domain.access.policy import PERMISSIONS
from domain.command.lifecycle import COMMAND
from domain.directory import passwords
from domain.directory.roles import ROLES
from domain.priority import Priority
from domain.recipe.lifecycle import RECIPE, TASK
from domain.roll_up import RESULT_ORDER
from domain.system.lifecycle import CONDITIONS, USAGE

_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ]")


def _dated(value: Any) -> Any:
    """Seconds since 1970, which are read as a time otherwise, are none."""
    if not isinstance(value, str) or not _DATE.match(value):
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


@dataclass(frozen=True)
class OneOf:
    """What `Literal` is, for words that stand in a tuple of the domain."""

    words: tuple[str, ...]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.literal_schema(list(self.words))


def no_defaults(schema: dict[str, Any]) -> None:
    """For a model of what may change: what is left out stays, so its defaults say nothing."""
    for described in schema.get("properties", {}).values():
        described.pop("default", None)


NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._@+-]*$"
FQDN_PATTERN = (
    r"^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$"
)
# No space, and no control characters: read models take no NUL.
MAIL_PATTERN = r"^[^@\s\x00-\x1f\x7f]+@[^@\s\x00-\x1f\x7f]+$"
NUMBER_PATTERN = r"^[1-9][0-9]{0,9}$"
# A scheme, a host, and then no space and no control characters.
LINK_PATTERN = r"^[Hh][Tt][Tt][Pp][Ss]?://[^\s/?#\x00-\x1f\x7f][^\s\x00-\x1f\x7f]*$"
SHA256_PATTERN = r"^[0-9a-f]{64}$"

Name = Annotated[str, StringConstraints(min_length=1, max_length=255, pattern=NAME_PATTERN)]
Fqdn = Annotated[str, StringConstraints(max_length=253, pattern=FQDN_PATTERN)]
Text = Annotated[str, StringConstraints(max_length=4_096), AfterValidator(printable)]
Link = Annotated[str, StringConstraints(max_length=4_096, pattern=LINK_PATTERN)]
Sha256 = Annotated[str, StringConstraints(pattern=SHA256_PATTERN)]
Moment = Annotated[AwareDatetime, BeforeValidator(_dated), AfterValidator(_utc)]
# Of answers: written by this service, so nobody checks it again.
Time = Annotated[datetime, WithJsonSchema({"type": "string", "format": "date-time"})]
Flag = Annotated[bool, Strict()]
# Bounds stand before it; behind it they would hold, but be described in words that are not of JSON schema.
IS_NUMBER = BeforeValidator(number("a number"))
Real = Annotated[float, Field(allow_inf_nan=False), IS_NUMBER]
Count = Annotated[int, Field(ge=0, le=2**31 - 1), IS_NUMBER]
# An id in a path: the one way to write a number from 1 to 2^31 - 1.
Number = Annotated[str, StringConstraints(pattern=NUMBER_PATTERN), AfterValidator(_below_2_31)]
SizeBytes = Annotated[int, Field(ge=0, le=2**63 - 1), IS_NUMBER]
Id = Annotated[int, Field(ge=1, le=2**31 - 1), IS_NUMBER]
# Of a command: the position of what it follows from.
CommandId = Annotated[int, Field(ge=1, le=2**63 - 1), IS_NUMBER]

Mail = Annotated[str, StringConstraints(max_length=255, pattern=MAIL_PATTERN)]
# Here it is only described: that there is no such role is told in the words of the domain.
Role = Annotated[
    str,
    StringConstraints(max_length=255),
    WithJsonSchema({"type": "string", "enum": list(ROLES)}),
]

# How long one has to be is up to the domain, for the same reason.
Password = Annotated[str, StringConstraints(min_length=1, max_length=passwords.MOST)]

PriorityName = Annotated[str, OneOf(tuple(Priority.__members__))]
Condition = Annotated[str, OneOf(CONDITIONS)]
Permission = Annotated[str, OneOf(PERMISSIONS)]

# Of answers: what the state machines of the domain have.
RecipeState = Annotated[str, OneOf(RECIPE.states)]
TaskState = Annotated[str, OneOf(TASK.states)]
CommandState = Annotated[str, OneOf(COMMAND.states)]
UsageState = Annotated[str, OneOf(USAGE.states)]
Result = Annotated[str, OneOf(RESULT_ORDER)]
