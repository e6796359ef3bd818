"""Waiting for something that happens elsewhere, with an end."""

from __future__ import annotations

import time
from collections.abc import Callable


def until(happened: Callable[[], object], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, f"did not happen within {seconds} s: {happened}"
        time.sleep(0.01)
