"""The states of a partition or queue: whether it takes new jobs and grants systems (design 6)."""

from __future__ import annotations

from typing import Final

ACTIVE: Final = "active"
DRAINING: Final = "draining"
"""No new jobs; waiting ones are finished."""
STOPPED: Final = "stopped"
"""No new jobs. A partition grants nothing; in a queue no set gets its first system, and holders go on."""
STATES: Final = (ACTIVE, DRAINING, STOPPED)
