"""Access policies as they are given, always as a whole."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from api.rest.contract.inputs.common import Input
from api.rest.contract.values import Flag, Name, Permission, PriorityName


class Entry(Input):
    """One permission, for one of `user`, `group` (its members) and `everybody`.

    `maximum_effective_priority` is for `submit` alone: Urgent where it is left out.
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
    """`active_pool`: the pool whose policy counts in the place of this one, for all but `submit`."""

    active_pool: Name | None = None
