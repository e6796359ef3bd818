"""Moved to `tests.harness.sessions`; here until `tests/docs` asks for it there."""

from __future__ import annotations

from tests.harness.sessions import owner_session as owner_session
