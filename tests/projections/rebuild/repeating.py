"""A deed done over and over while something else goes on."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event as Flag


def repeat(deed: Callable[[], object], done: Flag) -> int:
    times = 0
    while not done.is_set():
        deed()
        times += 1
    return times
