"""Durations as text for people."""

from __future__ import annotations

from typing import Final

_UNITS: Final = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def duration(seconds: float) -> str:
    """Return a duration in its two largest units, such as `2 h 5 min`; below a second, in tenths.

    It is for sentences. Tables of the command line have narrower ones (`cli.terminal.wording.duration`).
    """
    if seconds < 1:
        tenths = f"{max(seconds, 0):.1f}"
        return "0 s" if tenths == "0.0" else f"{tenths} s"
    left = int(seconds)
    found: list[str] = []
    for unit, size in _UNITS:
        number, left = divmod(left, size)
        if number or found:
            found.append(f"{number} {unit}" if number else "")
    return " ".join(part for part in found[:2] if part)
