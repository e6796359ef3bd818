"""Inputs about tokens, passwords, logins and access policies, which are replaced as a whole."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, StringConstraints

from api.rest.contract.values import (
    NO_NUL,
    ONE_LINE_PATTERN,
    Flag,
    Fqdn,
    Input,
    Moment,
    Name,
    Password,
    Permission,
    PriorityName,
    Role,
)


class Token(Input):
    """`lab_controller` is only for that role. Without `expires_at` the token is valid until it is revoked."""

    user: Name
    role: Role
    lab_controller: Fqdn | None = None
    expires_at: Moment | None = None


class Login(Input):
    """`role`: one of the user's roles (default: the first)."""

    user: Name
    password: Password
    role: Role | None = None


class DeviceLogin(Input):
    """`device_code` is that of the begin; `role`: one of the user's roles.

    The default is submitter for users who have it, for others their first role.
    """

    device_code: Annotated[str, StringConstraints(min_length=1, max_length=4_096, pattern=NO_NUL)]
    role: Role | None = None


class NewPassword(Input):
    """`current_password` is required to change your own password."""

    password: Password
    current_password: Password | None = None


class NewWebhook(Input):
    """A webhook, and the kinds of notification that it gets. Without `secret`, the present one is kept."""

    url: Annotated[str, StringConstraints(min_length=1, max_length=2_048)]
    secret: Annotated[str, StringConstraints(max_length=255, pattern=ONE_LINE_PATTERN)] | None = None
    kinds: Annotated[list[str], Field(max_length=20)]


class Notifications(Input):
    """`mail` are kinds of notification; null stands for the defaults of the service."""

    mail: Annotated[list[str] | None, Field(max_length=20)] = None
    webhook: NewWebhook | None = None


class Entry(Input):
    """One permission, for either `user`, `group` (its members) or `everybody`.

    `maximum_effective_priority` is only for `submit` (default: Urgent).
    """

    permission: Permission
    user: Name | None = None
    group: Name | None = None
    everybody: Flag = False
    maximum_effective_priority: PriorityName | None = None


class PoolPolicy(Input):
    entries: Annotated[list[Entry], Field(max_length=10_000)]

    def forms(self) -> list[dict[str, Any]]:
        return [entry.model_dump() for entry in self.entries]


class SystemPolicy(PoolPolicy):
    """`active_pool`: the pool whose policy applies instead of this one, except for `submit`."""

    active_pool: Name | None = None
