"""Clients of different users, by name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import httpx

from tests.acceptance.observer import LABS
from tests.harness.running import Running


@contextmanager
def people_of(service: Running) -> Iterator[dict[str, httpx.Client]]:
    """Yield clients of admin, of the submitter alice, and of the lab controllers east and west (lab-ops)."""
    asked = {"alice": {"user": "alice", "role": "submitter"}}
    for side, fqdn in LABS.items():
        asked[side] = {"user": "lab-ops", "role": "lab-controller", "lab_controller": fqdn}
    with ExitStack() as stack:
        admin = stack.enter_context(service.client())
        tokens = {name: admin.post("/tokens", json=body).json()["token"] for name, body in asked.items()}
        clients = {name: stack.enter_context(service.client(token)) for name, token in tokens.items()}
        yield {"admin": admin, **clients}
