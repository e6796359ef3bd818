from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

OPEN = {"entries": [{"permission": "view", "everybody": True}]}
MISSING = "missing.example.com"


@pytest.fixture
def secret(client: httpx.Client, machine: str) -> Iterator[tuple[str, str]]:
    """Yield a system of alice that bob may view, and the position of the change that hides it."""
    body = {"entries": [{"permission": "view", "user": "bob"}]}
    done = client.put(f"/systems/{machine}/access-policy", json=body)
    yield machine, done.headers["labledger-position"]
    client.put(f"/systems/{machine}/access-policy", json=OPEN).raise_for_status()
