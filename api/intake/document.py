"""The document of a job: what may stand where, for both doors. Its JSON is what the log keeps."""

from __future__ import annotations

import re
import shlex
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from api.intake import limits
from api.intake.words import one_line, printable
from api.intake.xml_record import foreign_text
from api.intake.xml_text import parse_xml
from api.intake.xml_walk import is_foreign
from domain.errors import Unreadable
from domain.job.spec import DEFAULT_RETENTION_TAG, RETENTION_TAGS
from domain.recipe_set.keeping import DEFAULT_SECONDS

_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,19}")


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
    """It must be harmless, and as deep in a job as in the text: one element of somebody else's namespace."""
    try:
        job = parse_xml(f"<job>{text}</job>".encode())
    except Unreadable as wrong:
        raise ValueError(wrong.faults[0].message) from None
    if len(job) != 1 or not is_foreign(job[0]):
        raise ValueError("must be an element of a foreign namespace")
    kept = foreign_text(job[0])
    if len(kept) > limits.TEXT_LENGTH:
        raise ValueError(f"must not be longer than {limits.TEXT_LENGTH} characters")
    return kept


def _unless_blank(text: str | None) -> str | None:
    return text if text and text.strip() else None


def _whole(written: Any) -> Any:
    """XML has only text for numbers. True is none, though Python takes it for one."""
    if isinstance(written, bool) or (isinstance(written, str) and not _WHOLE.fullmatch(written.strip())):
        raise ValueError("must be a whole number")
    return written


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
Url = Annotated[Line, Field(min_length=1)]
Whole = Annotated[int, BeforeValidator(_whole)]
Kickstart = Annotated[Text | None, AfterValidator(_unless_blank)]
Foreign = Annotated[Text, AfterValidator(_foreign)]
Options = Annotated[Line, AfterValidator(_options)]
GuestName = Annotated[Name | None, BeforeValidator(lambda word: word or None)]
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
    url: Url


class Partition(_Part):
    name: Name
    size_gb: Annotated[Whole, Field(ge=1, lt=2**31)]
    type: Literal["part", "lvm"] | None = None
    fs: Name | None = None


class Fetch(_Part):
    """Where a task comes from that is not in the task library."""

    url: Url
    subdir: Line = ""


class Task(_Part):
    """Only a task that is fetched may have no name."""

    name: Name | None = None
    role: Role = None
    params: Annotated[dict[Name, Text], Field(max_length=limits.LIST_LIMIT)] = {}
    fetch: Fetch | None = None


class Distro(_Part):
    """A distro of one's own."""

    arch: Name
    osmajor: Name
    osminor: Name = "0"
    name: Name | None = None
    variant: Name | None = None
    tree_url: Url
    kernel_url: Url
    initrd_url: Url
    image_url: Url | None = None


class Reservesys(_Part):
    duration_seconds: Annotated[Whole, Field(ge=1, le=limits.RESERVESYS_LIMIT_SECONDS)] = DEFAULT_SECONDS
    when: Literal["always", "onwarn", "onfail", "onabort"] = "always"


class AnyRecipe(_Part):
    """What a recipe and a guest recipe have in common. A distro of one's own stands for `distro_requires`."""

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
    kickstart: Kickstart = None
    distro_requires: Form | None = None
    distro: Distro | None = None
    host_requires: Form
    tasks: Annotated[list[Task], Field(min_length=1, max_length=limits.TASK_LIMIT)]
    reservesys: Reservesys | None = None


class Guest(AnyRecipe):
    """It runs in a virtual machine on its host's system, so its `host_requires` decides nothing."""

    guestname: GuestName = None
    guestargs: Options


class Recipe(AnyRecipe):
    guests: Annotated[list[Guest], Field(max_length=limits.LIST_LIMIT)] = []


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
