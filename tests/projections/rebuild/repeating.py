"""Repetition of a function while another one runs."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event as Flag


def repeat(deed: Callable[[], object], done: Flag) -> int:
    times = 0
    while not done.is_set():
        deed()
        times += 1
    return times
