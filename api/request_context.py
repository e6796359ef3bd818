"""The context of a change: its actor, the rights of the actor, and the key for repeated requests."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RequestContext:
    """The actor of a change, the rights of the actor, and the key that finds an earlier answer.

    `command_id` and `digest` come from an Idempotency-Key; without one every attempt is a new command.
    `expected` are the versions that an If-Match names for the subject of the request, None without one.
    `role` and `token_id` are those of the request. `has_quota`: whether the quotas of its actor apply.
    """

    actor: str
    request_id: str
    command_id: str | None = None
    digest: bytes | None = None
    is_admin: bool = False
    expected: frozenset[int] | None = None
    role: str | None = None
    token_id: str | None = None
    has_quota: bool = False
