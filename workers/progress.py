"""Progress of a rebuild or a verification."""

from __future__ import annotations

from collections.abc import Callable

ProgressCallback = Callable[[int, int], None]
"""Called with the position that is reached, and the position at the end."""
