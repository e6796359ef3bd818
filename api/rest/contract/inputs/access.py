"""Inputs about tokens, passwords and logins."""

from __future__ import annotations

from api.rest.contract.inputs.common import Input
from api.rest.contract.values import Fqdn, Moment, Name, Password, Role


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


class NewPassword(Input):
    """`current_password` is required to change your own password."""

    password: Password
    current_password: Password | None = None
