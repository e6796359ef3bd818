"""Our own styles and scripts, served by names that contain a hash of their content."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final, NamedTuple

_KINDS: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
FOREVER: Final = "public, max-age=31536000, immutable"


class StaticFile(NamedTuple):
    content: bytes
    media_type: str


@cache
def static_files() -> Mapping[str, StaticFile]:
    """Return hashed name -> file."""
    return MappingProxyType(dict(_hashed().values()))


def static_path(name: str) -> str:
    """Return the path of a file by its plain name, such as `pages.css`. Raises KeyError."""
    hashed, _ = _hashed()[name]
    return f"/ui/static/{hashed}"


@cache
def _hashed() -> dict[str, tuple[str, StaticFile]]:
    """Return plain name -> hashed name and file."""
    found: dict[str, tuple[str, StaticFile]] = {}
    for entry in (files("api.pages") / "static").iterdir():
        stem, dot, kind = entry.name.rpartition(".")
        media_type = _KINDS.get(dot + kind)
        if media_type is not None:
            content = entry.read_bytes()
            digest = hashlib.sha256(content).hexdigest()[:16]
            found[entry.name] = f"{stem}.{digest}.{kind}", StaticFile(content, media_type)
    return found
