"""The model of a job document, for XML and JSON jobs. The log stores its JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from api.intake import limits
from api.intake.values import (
    REFUSE_TEXT_AND_BOOLEANS,
    Foreign,
    Kickstart,
    Mail,
    Name,
    OneLineText,
    OptionalName,
    Options,
    RetentionTag,
    Role,
    Text,
    Url,
    Whiteboard,
    no_repeats,
    none_if_absent,
    unless_empty,
)
from domain.job.spec import DEFAULT_RETENTION_TAG
from domain.recipe_set.kept_systems import DEFAULT_SECONDS


def empty_by_default(kind: type[list[Any]] | type[dict[str, Any]]) -> Any:
    """Return a field that is empty by default; a factory is cheaper than pydantic's copy of a default."""
    return Field(default_factory=kind, json_schema_extra={"default": kind()})


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Return this part itself: parts are immutable, so defaults can be shared."""
        return self


class Autopick(_Part):
    """Preferred pools, in the order in which they are tried."""

    random: Annotated[bool, Field(strict=True)] = False
    pools: Annotated[list[Name], Field(max_length=limits.MAX_ITEMS), AfterValidator(no_repeats)] = (
        empty_by_default(list)
    )


class Watchdog(_Part):
    panic: Annotated[Literal["ignore"] | None, BeforeValidator(none_if_absent)] = None


class Repo(_Part):
    name: Name
    url: Url


class Partition(_Part):
    name: Name
    size_gb: Annotated[int, Field(ge=1, lt=2**31), REFUSE_TEXT_AND_BOOLEANS]
    type: Literal["part", "lvm"] | None = None
    fs: Name | None = None


class Fetch(_Part):
    """The source of a task that is not in the task library."""

    url: Url
    subdir: OneLineText = ""


class Task(_Part):
    """A task; the name is optional only with `fetch`."""

    name: Name | None = None
    role: Role = None
    params: Annotated[dict[Name, Text], Field(max_length=limits.MAX_ITEMS)] = empty_by_default(dict)
    fetch: Fetch | None = None


class Distro(_Part):
    """A custom distro of the job."""

    arch: Name
    osmajor: Name
    osminor: Annotated[Name, unless_empty("0")] = "0"
    name: Name | None = None
    variant: Name | None = None
    tree_url: Url
    kernel_url: Url
    initrd_url: Url
    image_url: Url | None = None


Locks = Annotated[
    dict[str, Any],
    Field(
        description="Resource locks by level: pool, guest, system, system_resource and network. A lock is"
        ' None, UnknownShared, AllShared, UnknownExclusive, AllExclusive, {"Shared": [names]} or'
        ' {"Exclusive": [names]}, or a list of two. whole_lab (true or false) is the lock on everything.'
    ),
]
"""Resource locks; `declarations` validates them."""

DependsOn = Annotated[
    list[dict[str, Any]],
    Field(
        max_length=limits.MAX_DEPENDENCIES,
        description="Jobs and recipe sets that must end first: job or recipe_set is an id, or a number below"
        " 0 that counts back; states are some of completed, cancelled and aborted.",
    ),
]
"""Dependencies; `declarations` validates them."""

Reasons = Annotated[
    list[Name],
    Field(
        max_length=limits.MAX_REASONS,
        description="Notes. At most n recipe sets with the reason rate-limit:n:label are placed at once.",
    ),
]

Seconds = Annotated[int, Field(ge=1, le=limits.MAX_RESERVESYS_SECONDS), REFUSE_TEXT_AND_BOOLEANS]


class Reservesys(_Part):
    duration_seconds: Seconds = DEFAULT_SECONDS
    when: Literal["always", "onwarn", "onfail", "onabort"] = "always"


class AnyRecipe(_Part):
    """The common fields of recipes and guest recipes. A custom `distro` replaces `distro_requires`."""

    whiteboard: Whiteboard = ""
    role: Role = None
    kernel_options: Options = ""
    kernel_options_post: Options = ""
    ks_meta: Options = ""
    autopick: Autopick = Autopick()
    watchdog: Watchdog = Watchdog()
    packages: Annotated[list[Name], Field(max_length=limits.MAX_ITEMS)] = empty_by_default(list)
    ks_appends: Annotated[list[Text], Field(max_length=limits.MAX_ITEMS)] = empty_by_default(list)
    repos: Annotated[list[Repo], Field(max_length=limits.MAX_ITEMS)] = empty_by_default(list)
    partitions: Annotated[list[Partition], Field(max_length=limits.MAX_ITEMS)] = empty_by_default(list)
    kickstart: Kickstart = None
    distro_requires: dict[str, Any] | None = None
    distro: Distro | None = None
    host_requires: dict[str, Any]
    tasks: Annotated[list[Task], Field(min_length=1, max_length=limits.MAX_TASKS)]
    reservesys: Reservesys | None = None
    locks: Locks | None = None


class Guest(AnyRecipe):
    """A guest recipe runs in a virtual machine on its host's system, so its `host_requires` has no effect."""

    guestname: OptionalName = None
    guestargs: Options


class Recipe(AnyRecipe):
    guests: Annotated[list[Guest], Field(max_length=limits.MAX_ITEMS)] = empty_by_default(list)


# An empty text is refused: an unset variable of a client would take away the protection of the key.
Key = Annotated[
    Name | None,
    Field(description="A name of the submitter's own, for a repeated submission to be recognised."),
]


class RecipeSet(_Part):
    """A set. Its `key` is unique within the job. A `preemptible` set may lose its systems after its start."""

    key: Key = None
    preemptible: Annotated[bool, Field(strict=True)] = False
    priority: Literal["Low", "Medium", "Normal", "High", "Urgent"] = "Normal"
    depends_on: DependsOn | None = None
    reasons: Reasons | None = None
    recipes: Annotated[list[Recipe], Field(min_length=1, max_length=limits.MAX_ITEMS)]


class Job(_Part):
    """A job. Its `key` is unique among those of its owner. An `open` job takes further recipe sets."""

    key: Key = None
    open: Annotated[bool, Field(strict=True)] = False
    whiteboard: Whiteboard = ""
    user: OptionalName = None
    group: OptionalName = None
    retention_tag: RetentionTag = DEFAULT_RETENTION_TAG
    product: OptionalName = None
    partition: OptionalName = None
    queue: OptionalName = None
    notify: Annotated[list[Mail], Field(max_length=limits.MAX_ITEMS)] = empty_by_default(list)
    depends_on: DependsOn | None = None
    reasons: Reasons | None = None
    recipe_sets: Annotated[list[RecipeSet], Field(max_length=limits.MAX_RECIPE_SETS)] = empty_by_default(list)
    foreign: Annotated[list[Foreign], Field(max_length=limits.MAX_ITEMS)] = empty_by_default(list)


def chosen_fields(document: Mapping[str, Any], default_tag: str | None) -> dict[str, Any]:
    """Return the fields of a normalised job that do not have their default.

    `default_tag` is the retention tag that the service gives to jobs without one; None returns any tag.
    """
    job = Job.model_validate(document)
    fields = job.model_dump(exclude_none=True, exclude_defaults=True)
    fields.pop("retention_tag", None)
    return fields if job.retention_tag == default_tag else {**fields, "retention_tag": job.retention_tag}
