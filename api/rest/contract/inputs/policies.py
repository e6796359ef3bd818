"""Inputs of access policies, always as a whole."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from api.rest.contract.inputs.common import Input
from api.rest.contract.values import Flag, Name, Permission, PriorityName


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
