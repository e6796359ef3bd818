"""The document of a job: what may stand where, for both doors. Its JSON is what the log keeps."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from api.intake import limits
from api.intake.values import (
    IS_WHOLE,
    Foreign,
    Kickstart,
    Line,
    Mail,
    Name,
    OptionalName,
    Options,
    RetentionTag,
    Role,
    Text,
    Url,
    Whiteboard,
    no_repeats,
    nobody,
    unless_empty,
)
from domain.job.spec import DEFAULT_RETENTION_TAG
from domain.recipe_set.keeping import DEFAULT_SECONDS


def none_of(kind: type[list[Any]] | type[dict[str, Any]]) -> Any:
    """A field that may be left out. Made anew each time, which is cheaper than the copy of a default."""
    return Field(default_factory=kind, json_schema_extra={"default": kind()})


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """A part that is a default may be shared: none of them changes."""
        return self


class Autopick(_Part):
    """Pools in the order in which they are tried."""

    random: Annotated[bool, Field(strict=True)] = False
    pools: Annotated[list[Name], Field(max_length=limits.LIST_LIMIT), AfterValidator(no_repeats)] = none_of(
        list
    )


class Watchdog(_Part):
    panic: Annotated[Literal["ignore"] | None, BeforeValidator(nobody)] = None


class Repo(_Part):
    name: Name
    url: Url


class Partition(_Part):
    name: Name
    size_gb: Annotated[int, Field(ge=1, lt=2**31), IS_WHOLE]
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
    params: Annotated[dict[Name, Text], Field(max_length=limits.LIST_LIMIT)] = none_of(dict)
    fetch: Fetch | None = None


class Distro(_Part):
    """A distro of one's own."""

    arch: Name
    osmajor: Name
    osminor: Annotated[Name, unless_empty("0")] = "0"
    name: Name | None = None
    variant: Name | None = None
    tree_url: Url
    kernel_url: Url
    initrd_url: Url
    image_url: Url | None = None


Seconds = Annotated[int, Field(ge=1, le=limits.RESERVESYS_LIMIT_SECONDS), IS_WHOLE]


class Reservesys(_Part):
    duration_seconds: Seconds = DEFAULT_SECONDS
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
    packages: Annotated[list[Name], Field(max_length=limits.LIST_LIMIT)] = none_of(list)
    ks_appends: Annotated[list[Text], Field(max_length=limits.LIST_LIMIT)] = none_of(list)
    repos: Annotated[list[Repo], Field(max_length=limits.LIST_LIMIT)] = none_of(list)
    partitions: Annotated[list[Partition], Field(max_length=limits.LIST_LIMIT)] = none_of(list)
    kickstart: Kickstart = None
    distro_requires: dict[str, Any] | None = None
    distro: Distro | None = None
    host_requires: dict[str, Any]
    tasks: Annotated[list[Task], Field(min_length=1, max_length=limits.TASK_LIMIT)]
    reservesys: Reservesys | None = None


class Guest(AnyRecipe):
    """It runs in a virtual machine on its host's system, so its `host_requires` decides nothing."""

    guestname: OptionalName = None
    guestargs: Options


class Recipe(AnyRecipe):
    guests: Annotated[list[Guest], Field(max_length=limits.LIST_LIMIT)] = none_of(list)


class RecipeSet(_Part):
    priority: Literal["Low", "Medium", "Normal", "High", "Urgent"] = "Normal"
    recipes: Annotated[list[Recipe], Field(min_length=1, max_length=limits.LIST_LIMIT)]


class Job(_Part):
    whiteboard: Whiteboard = ""
    user: OptionalName = None
    group: OptionalName = None
    retention_tag: RetentionTag = DEFAULT_RETENTION_TAG
    product: OptionalName = None
    notify: Annotated[list[Mail], Field(max_length=limits.LIST_LIMIT)] = none_of(list)
    recipe_sets: Annotated[list[RecipeSet], Field(min_length=1, max_length=limits.RECIPE_SET_LIMIT)]
    foreign: Annotated[list[Foreign], Field(max_length=limits.LIST_LIMIT)] = none_of(list)
