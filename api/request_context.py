"""The context of a write request: its actor, the rights of the actor, and its idempotency key."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RequestContext:
    """The actor of a write request, the rights of the actor, and the idempotency key.

    `command_id` and `digest` come from an Idempotency-Key; without the header every attempt is a new command.
    `expected` are the versions that If-Match lists for the subject of the request, None without the header.
    `role` and `token_id` are those of the credential. `has_quota`: whether the quotas of the actor apply.
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
