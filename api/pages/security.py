"""The headers of every page, which bind it to this origin and keep it out of caches."""

from __future__ import annotations

from typing import Final

from falcon.asgi import Response

HTML: Final = "text/html; charset=utf-8"
_SOURCES: Final = ("script-src", "style-src", "img-src", "connect-src", "form-action")
_NONE: Final = ("default-src", "base-uri", "frame-ancestors")
CONTENT_SECURITY_POLICY: Final = "; ".join(
    [*(f"{name} 'none'" for name in _NONE), *(f"{name} 'self'" for name in _SOURCES)]
)


def secure(resp: Response) -> None:
    """Set the headers of a page. A static file, whose name has its hash, may be cached instead."""
    resp.set_header("Content-Security-Policy", CONTENT_SECURITY_POLICY)
    resp.set_header("X-Content-Type-Options", "nosniff")
    resp.set_header("Referrer-Policy", "same-origin")
    resp.set_header("Cache-Control", "no-store")
