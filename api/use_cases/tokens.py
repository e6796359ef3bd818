"""Tokens: shown once, kept as a digest."""

from __future__ import annotations

import hashlib
import secrets

from api.services import Request, Services
from api.store.requests import committed
from api.use_cases.commit import append_of
from domain.directory.events import TokenCreated
from domain.directory.roles import LAB_CONTROLLER, ROLES
from domain.errors import Fault, FaultyInput
from domain.names import unknown_name


def digest_of(token: str) -> str:
    # A token is 256 random bits: nothing slower than SHA-256 is needed to keep it from being guessed.
    return hashlib.sha256(token.encode()).hexdigest()


def new_token() -> str:
    return "ll_" + secrets.token_urlsafe(32)


async def create_token(
    services: Services, request: Request, user: str, role: str, lab_controller: str | None
) -> tuple[str, str, int]:
    """A new token, its id, and the log position from which it counts."""
    await services.feed.catch_up()
    faults = _faults(services, user, role, lab_controller)
    if faults:
        raise FaultyInput(faults)
    token, token_id = new_token(), secrets.token_hex(6)
    event = TokenCreated(user=user, role=role, lab_controller=lab_controller, digest=digest_of(token))
    append = append_of(services, request, [(f"token/{token_id}", event)], {})
    done = committed(await services.append(append))
    await services.feed.reach(done.position)
    return token, token_id, done.position


def _faults(services: Services, user: str, role: str, lab_controller: str | None) -> list[Fault]:
    known = services.feed.directory.get
    faults = []
    if known("user", user) is None:
        faults.append(Fault("user", unknown_name("user", user)))
    if role not in ROLES:
        faults.append(Fault("role", f"{role!r} is none of {', '.join(ROLES)}"))
    if role == LAB_CONTROLLER:
        if lab_controller is None:
            faults.append(Fault("lab_controller", "is needed for this role"))
        elif known("lab-controller", lab_controller) is None:
            faults.append(Fault("lab_controller", unknown_name("lab-controller", lab_controller)))
    return faults
