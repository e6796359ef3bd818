"""Events that end something, with the reason that a person gave for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from domain.events import Event


@dataclass(frozen=True, kw_only=True)
class EndingEvent(Event):
    """Base of events that end something. `reason` is null if nobody gave one, as in version 1 of each."""

    reason: str | None = None

    @classmethod
    def upcast(cls, data: dict[str, Any], version: int) -> dict[str, Any]:
        return data if version == 1 else super().upcast(data, version)


def with_reason(text: str, reason: str | None) -> str:
    """Return `text`, followed by the reason that a person gave, if any."""
    return f"{text}: {reason}" if reason else text
