"""Inputs of named things, for PUT."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from api.rest.contract.values import (
    REFUSE_TEXT_AND_BOOLEANS,
    Flag,
    Fqdn,
    Input,
    Mail,
    Moment,
    Name,
    Reason,
    Role,
    Text,
)
from domain.system.failures import MAX_BROKEN_AFTER

A_YEAR = 366 * 86_400


class User(Input):
    """`roles`: the roles of the user; a login without a role gets the first. If left out, they stay."""

    roles: Annotated[list[Role], Field(max_length=100)] | None = None
    email: Mail | None = None


class Group(Input):
    owners: list[Name] = Field(default_factory=list)
    members: list[Name] = Field(default_factory=list)


class Pool(Input):
    """A pool; without `description` the present one stays."""

    owner_group: Name | None = None
    description: Text | None = None


class LabLimits(Input):
    """The limits of a lab controller; LabController describes them."""

    broken_after: Annotated[int, Field(ge=0, le=MAX_BROKEN_AFTER), REFUSE_TEXT_AND_BOOLEANS] | None = None
    max_extension_seconds: Annotated[int, Field(ge=0, le=A_YEAR), REFUSE_TEXT_AND_BOOLEANS] | None = None


class LabControllerFields(LabLimits):
    """The properties of a lab controller; LabController describes them."""

    enabled: Flag = True


class LabController(LabControllerFields):
    """`broken_after` consecutive provisioning failures, of different jobs and distros, make a system Broken.

    0 disables this, also for failed power commands. By `max_extension_seconds` in all, people may extend one
    recipe, reservation or loan; 0 for not at all. Limits that are left out stay (initially 2 and a week).
    `reason` says why an enabled lab controller is disabled.
    """

    reason: Reason | None = None


class LabControllerPatch(LabController):
    """Fields that are left out stay; `reason` says why the lab controller is disabled."""


class DistroTree(Input):
    name: Name
    family: Name
    version: Text = ""
    arch: Name
    variant: Text = ""
    tags: list[Name] = Field(default_factory=list)
    urls: dict[Fqdn, list[Text]] = Field(default_factory=dict)
    added_at: Moment | None = None
