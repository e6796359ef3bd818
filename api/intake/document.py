"""The document of a job: what may stand where, for both doors. Its JSON is what the log keeps."""

from __future__ import annotations

import shlex
from typing import Annotated, Any, Literal

from lxml import etree
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from api.intake import limits
from api.intake.words import one_line, printable
from api.intake.xml_shapes import OWN_NAMESPACE
from api.intake.xml_text import parse_xml
from domain.errors import Unreadable
from domain.job.spec import DEFAULT_RETENTION_TAG, RETENTION_TAGS


def _options(text: str) -> str:
    """Options are split as a shell splits words, so quotes must be closed."""
    if not text.isascii() or any(mark in text for mark in "'\"\\"):
        try:
            shlex.split(text)
        except ValueError as wrong:
            raise ValueError(f"cannot be split into words: {str(wrong).lower()}") from None
    return text


def _nobody(word: Any) -> Any:
    """The job language writes None for an attribute that is not given."""
    return None if word == "None" else word


def _retention_tag(tag: str) -> str:
    if tag.lower() not in RETENTION_TAGS:
        raise ValueError(f"must be one of {', '.join(RETENTION_TAGS)}")
    return tag.lower()


def _foreign(text: str) -> str:
    """Kept as it is written, so it must be harmless: one element of somebody else's namespace."""
    try:
        namespace = etree.QName(parse_xml(text.encode())).namespace
    except Unreadable as wrong:
        raise ValueError(wrong.faults[0].message) from None
    if namespace in (None, OWN_NAMESPACE):
        raise ValueError("must be an element of a foreign namespace")
    return text


def _no_repeats(names: list[str]) -> list[str]:
    if len(set(names)) < len(names):
        raise ValueError("names one of them twice")
    return names


def _text(longest: int, shortest: int = 0) -> Any:
    return StringConstraints(min_length=shortest, max_length=longest)


Name = Annotated[str, _text(limits.NAME_LENGTH, 1), AfterValidator(one_line)]
Line = Annotated[str, _text(limits.LINE_LENGTH), AfterValidator(one_line)]
Text = Annotated[str, _text(limits.TEXT_LENGTH), AfterValidator(printable)]
Whiteboard = Annotated[
    str, StringConstraints(strip_whitespace=True), _text(limits.LINE_LENGTH), AfterValidator(printable)
]
Foreign = Annotated[Text, AfterValidator(_foreign)]
Options = Annotated[Line, AfterValidator(_options)]
Role = Annotated[Name | None, BeforeValidator(_nobody)]
Mail = Annotated[Name, StringConstraints(pattern=r"^[^@\s]+@[^@\s]+$")]
Form = dict[str, Any]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Autopick(_Part):
    """Pools in the order in which they are tried."""

    random: Annotated[bool, Field(strict=True)] = False
    pools: Annotated[list[Name], Field(max_length=limits.LIST_LIMIT), AfterValidator(_no_repeats)] = []


class Watchdog(_Part):
    panic: Annotated[Literal["ignore"] | None, BeforeValidator(_nobody)] = None


class Repo(_Part):
    name: Name
    url: Annotated[Line, Field(min_length=1)]


class Partition(_Part):
    name: Name
    size_gb: Annotated[int, Field(ge=1, lt=2**31)]
    type: Literal["part", "lvm"] | None = None
    fs: Name | None = None


class Task(_Part):
    name: Name
    role: Role = None
    params: Annotated[dict[Name, Text], Field(max_length=limits.LIST_LIMIT)] = {}
    fetch: Any = None


class Recipe(_Part):
    """The last ones are known, but their time has not come: `not_yet` refuses them."""

    whiteboard: Whiteboard = ""
    role: Role = None
    kernel_options: Options = ""
    kernel_options_post: Options = ""
    ks_meta: Options = ""
    autopick: Autopick = Autopick()
    watchdog: Watchdog = Watchdog()
    packages: Annotated[list[Name], Field(max_length=limits.LIST_LIMIT)] = []
    ks_appends: Annotated[list[Text], Field(max_length=limits.LIST_LIMIT)] = []
    repos: Annotated[list[Repo], Field(max_length=limits.LIST_LIMIT)] = []
    partitions: Annotated[list[Partition], Field(max_length=limits.LIST_LIMIT)] = []
    distro_requires: Form
    host_requires: Form
    tasks: Annotated[list[Task], Field(min_length=1, max_length=limits.TASK_LIMIT)]
    guests: Any = None
    reservesys: Any = None
    kickstart: Any = None
    distro: Any = None


class RecipeSet(_Part):
    priority: Literal["Low", "Medium", "Normal", "High", "Urgent"] = "Normal"
    recipes: Annotated[list[Recipe], Field(min_length=1, max_length=limits.LIST_LIMIT)]


class Job(_Part):
    whiteboard: Whiteboard = ""
    user: Name | None = None
    group: Name | None = None
    retention_tag: Annotated[Name, AfterValidator(_retention_tag)] = DEFAULT_RETENTION_TAG
    product: Name | None = None
    notify: Annotated[list[Mail], Field(max_length=limits.LIST_LIMIT)] = []
    recipe_sets: Annotated[list[RecipeSet], Field(min_length=1, max_length=limits.RECIPE_SET_LIMIT)]
    foreign: Annotated[list[Foreign], Field(max_length=limits.LIST_LIMIT)] = []
