"""Progress of a rebuild or a verification."""

from __future__ import annotations

from collections.abc import Callable

ProgressCallback = Callable[[int, int], None]
"""Called with the position reached so far, and the last position to reach."""
