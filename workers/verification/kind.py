"""What a part of the verification is."""

from __future__ import annotations

from typing import Any, Final, Protocol

from store.mapper import StoredRow

DECISIONS: Final = "decisions"
AUDIT: Final = "audit"

SHOWN = 10
"""So many of what a part finds are told in full; the others are counted."""


class Part(Protocol):
    """Mutable; goes through one log, from its beginning."""

    def take(self, rows: list[StoredRow]) -> None:
        """The next whole commits."""

    def found(self) -> dict[str, Any]:
        """What it has to say in the end, as JSON."""
