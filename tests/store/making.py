"""Moved to `tests.harness.making`; here until `tests/docs` asks for it there."""

from __future__ import annotations

from tests.harness.making import append_to as append_to
