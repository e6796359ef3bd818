"""Types of the fields of inputs, parameters and answers, and the base of inputs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    Strict,
    StringConstraints,
    WithJsonSchema,
)
from pydantic_core import CoreSchema, core_schema

from api.intake.words import number, printable
from domain.access.policy import PERMISSIONS
from domain.characters import MAX_NAME_LENGTH, NAME_PATTERN
from domain.contention.documents import NAMED
from domain.contention.locks import LEVELS, WHOLE_LAB
from domain.directory import passwords
from domain.directory.ldap_sync_events import LEFT, PRESENT
from domain.directory.roles import ROLES
from domain.job.stages import STAGES
from domain.lab_commands.lifecycle import COMMAND
from domain.maintenance.window import STATES as WINDOW_STATES
from domain.priority import Priority
from domain.recipe.lifecycle import RECIPE, TASK
from domain.recipe_set.review import REVIEWS
from domain.roll_up import RESULT_ORDER
from domain.scheduling.supply.waiting_reasons import SENTENCES
from domain.system.lifecycle import CONDITIONS, USAGE
from domain.system.usage import UNAVAILABLE
from projections.fold_locks import LOCK_STATES

_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ]")


def _dated(value: Any) -> Any:
    """Refuse numbers, which would otherwise be parsed as seconds since 1970."""
    if not isinstance(value, str) or not _DATE.match(value):
        raise ValueError("must be an RFC 3339 time with a zone")
    return value


def _utc(moment: datetime) -> datetime:
    """Convert to UTC, so that stored times can be compared as texts."""
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("must be within the years 1 to 9999") from None


def _below_2_31(text: str) -> str:
    if int(text) >= 2**31:
        raise ValueError("must be below 2^31")
    return text


@dataclass(frozen=True)
class OneOf:
    """Annotation of a type like a `Literal` of these words."""

    words: tuple[str, ...]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.literal_schema(list(self.words))


def no_defaults(schema: dict[str, Any]) -> None:
    """Remove the defaults from the schema of a patch, in which a missing field stays unchanged."""
    for described in schema.get("properties", {}).values():
        described.pop("default", None)


FQDN_PATTERN = (
    r"^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$"
)
# No space and no control characters: the read models cannot store a NUL.
MAIL_PATTERN = r"^[^@\s\x00-\x1f\x7f]+@[^@\s\x00-\x1f\x7f]+$"
NUMBER_PATTERN = r"^[1-9][0-9]{0,9}$"
# A scheme, a host, and then no space and no control characters.
LINK_PATTERN = r"^[Hh][Tt][Tt][Pp][Ss]?://[^\s/?#\x00-\x1f\x7f][^\s\x00-\x1f\x7f]*$"
# No control characters, line breaks included.
ONE_LINE_PATTERN = r"^[^\x00-\x1f\x7f]+$"
SHA256_PATTERN = r"^[0-9a-f]{64}$"

Name = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME_LENGTH, pattern=NAME_PATTERN)]
MAX_FQDN_LENGTH: Final = 253
Fqdn = Annotated[str, StringConstraints(max_length=MAX_FQDN_LENGTH, pattern=FQDN_PATTERN)]
MAX_TEXT_LENGTH: Final = 4_096
Text = Annotated[str, StringConstraints(max_length=MAX_TEXT_LENGTH), AfterValidator(printable)]
# No request contains a NUL, so no description may allow one.
NO_NUL: Final = r"^[^\x00]+$"
Reason = Annotated[
    str,
    StringConstraints(min_length=1, max_length=MAX_TEXT_LENGTH, pattern=NO_NUL),
    AfterValidator(printable),
]
SearchedText = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT_LENGTH, pattern=NO_NUL)]
SearchedName = Annotated[str, StringConstraints(min_length=1, max_length=255, pattern=NO_NUL)]
Link = Annotated[str, StringConstraints(max_length=4_096, pattern=LINK_PATTERN)]
Sha256 = Annotated[str, StringConstraints(pattern=SHA256_PATTERN)]
Moment = Annotated[AwareDatetime, BeforeValidator(_dated), AfterValidator(_utc)]
# For answers, which are not validated, so only the schema counts.
Time = Annotated[datetime, WithJsonSchema({"type": "string", "format": "date-time"})]
Flag = Annotated[bool, Strict()]
# Put Field(ge=…) before this validator: after it, pydantic emits `ge`, which is not a JSON Schema keyword.
REFUSE_TEXT_AND_BOOLEANS = BeforeValidator(number("a number"))
Real = Annotated[float, Field(allow_inf_nan=False), REFUSE_TEXT_AND_BOOLEANS]
Count = Annotated[int, Field(ge=0, le=2**31 - 1), REFUSE_TEXT_AND_BOOLEANS]
# An id in a path: a number from 1 to 2^31 - 1, without leading zeros.
Number = Annotated[str, StringConstraints(pattern=NUMBER_PATTERN), AfterValidator(_below_2_31)]
SizeBytes = Annotated[int, Field(ge=0, le=2**63 - 1), REFUSE_TEXT_AND_BOOLEANS]
Id = Annotated[int, Field(ge=1, le=2**31 - 1), REFUSE_TEXT_AND_BOOLEANS]
# The id of a command is the position of the event that caused it.
CommandId = Annotated[int, Field(ge=1, le=2**63 - 1), REFUSE_TEXT_AND_BOOLEANS]

Mail = Annotated[str, StringConstraints(max_length=255, pattern=MAIL_PATTERN)]
# The schema only describes the roles: the domain checks them.
Role = Annotated[
    str, StringConstraints(max_length=255), WithJsonSchema({"type": "string", "enum": list(ROLES)})
]

# The domain checks the minimum length.
Password = Annotated[str, StringConstraints(min_length=1, max_length=passwords.MAX_LENGTH)]

StageName = Annotated[str, OneOf(tuple(stage.name for stage in STAGES))]
PriorityName = Annotated[str, OneOf(tuple(Priority.__members__))]
ReviewName = Annotated[str, OneOf(REVIEWS)]
Condition = Annotated[str, OneOf(CONDITIONS)]
Permission = Annotated[str, OneOf(PERMISSIONS)]

# For answers: the states of the domain's state machines.
LockLevel = Annotated[str, OneOf((*LEVELS, WHOLE_LAB))]
LockMode = Annotated[str, OneOf(NAMED)]
LockState = Annotated[str, OneOf(LOCK_STATES)]
LockName = Annotated[
    str, StringConstraints(min_length=1, max_length=255, pattern=NO_NUL), AfterValidator(printable)
]
RecipeState = Annotated[str, OneOf(RECIPE.states)]
TaskState = Annotated[str, OneOf(TASK.states)]
CommandState = Annotated[str, OneOf(COMMAND.states)]
UsageState = Annotated[str, OneOf(USAGE.states)]
LdapState = Annotated[str, OneOf((PRESENT, LEFT))]
StepName = Annotated[str, OneOf(("hour", "day"))]
DrawnEnd = Annotated[str, OneOf((*USAGE.states, *UNAVAILABLE))]
# Intervals of a time line also have these.
DrawnUsage = Annotated[str, OneOf((*USAGE.states, *UNAVAILABLE, "mixed", "unregistered"))]
Unavailable = Annotated[str, OneOf(UNAVAILABLE)]
UseKind = Annotated[str, OneOf(("recipe", "reservation", "loan"))]
Result = Annotated[str, OneOf(RESULT_ORDER)]
WindowState = Annotated[str, OneOf(WINDOW_STATES)]
ReasonCode = Annotated[str, OneOf(tuple(SENTENCES))]


class Input(BaseModel):
    """Unknown fields are errors: a misspelt one must not be ignored."""

    model_config = ConfigDict(extra="forbid")
