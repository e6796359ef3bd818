"""Tokens, passwords, and who comes in with one."""

from __future__ import annotations

from api.rest.contract.inputs.common import Input
from api.rest.contract.values import Fqdn, Moment, Name, Password, Role


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
