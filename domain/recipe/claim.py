"""Claims: the right of an unplaced recipe to a busy system, which asks it first when it comes free."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

SERVED: Final = "served"
"""The recipe got a system, this one or another."""

ENDED: Final = "ended"
"""The recipe was cancelled or aborted, or another recipe forces the system."""

SYSTEM_AWAY: Final = "system away"
"""The recipe cannot have the system any more, not even when it comes free."""

NO_ROOM: Final = "no room"
"""The recipe had no room under a limit, or was held back, when the system asked it."""

OVER: Final = "over"
"""The time of the claim has passed."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim to a system; `forced` is whether the recipe forces the system.

    `since` is the recorded time of its event, None until that is in the log.
    """

    system: str
    forced: bool
    since: datetime | None
