"""What the process that explains is asked about, and how it answers: plain values for JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from api.explaining.follower import Follower

ANSWERS: Final[dict[str, Callable[..., dict[str, Any]]]] = {}
