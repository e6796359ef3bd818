"""The JSON that clients send, as models that check it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from api.intake.values import Name as Product
from api.intake.values import RetentionTag, Whiteboard
from api.rest.contract.values import (
    Count,
    Fqdn,
    Id,
    Mail,
    Moment,
    Name,
    Password,
    PriorityName,
    Role,
    Text,
    no_defaults,
)


class Input(BaseModel):
    """Unknown fields are faults: a misspelt one must not be dropped in silence."""

    model_config = ConfigDict(extra="forbid")


class User(Input):
    """`roles` are those it may take on, the first where it names none; left out, they stay."""

    roles: list[Role] | None = None
    email: Mail | None = None


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
    """`lab_controller` is for the role of that name; without `expires_at` it counts until it is revoked."""

    user: Name
    role: Role
    lab_controller: Fqdn | None = None
    expires_at: Moment | None = None


class Login(Input):
    """`role`: one of those that the user may take on, else the first of them."""

    user: Name
    password: Password
    role: Role | None = None


class NewPassword(Input):
    """`current_password` is needed by who changes their own."""

    password: Password
    current_password: Password | None = None


class Cancel(Input):
    reason: Annotated[Text, StringConstraints(min_length=1)]


class JobPatch(Input):
    """What is left out stays; a product of null is none. The defaults are never read."""

    model_config = ConfigDict(json_schema_extra=no_defaults)

    whiteboard: Whiteboard = ""
    retention_tag: RetentionTag = ""
    product: Product | None = None


class PriorityChange(Input):
    priority: PriorityName


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
