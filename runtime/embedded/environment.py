"""Keeping the caller's PostgreSQL out of ours."""

from __future__ import annotations

import os
from collections.abc import Mapping


def without_libpq(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment less `PGHOSTADDR`, `PGOPTIONS` and their like, which a URL does not override."""
    return {name: value for name, value in environ.items() if not _is_libpq(name)}


def forget_libpq() -> None:
    """The same for this process, before it connects to the embedded server."""
    for name in [name for name in os.environ if _is_libpq(name)]:
        del os.environ[name]


def _is_libpq(name: str) -> bool:
    return name.startswith("PG") and name[2:].isalnum()
