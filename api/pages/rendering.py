"""Rendering of templates: everything is escaped, and an undefined name is an error."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any, Final

from falcon.asgi import Response
from jinja2 import Environment, PackageLoader, StrictUndefined

from api.pages.security import HTML, secure
from api.pages.static_files import static_path


def _moment(at: datetime) -> str:
    """Return a time for people, in UTC; the element around it has the exact one."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _exact(at: datetime) -> str:
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


_ENVIRONMENT: Final = Environment(
    loader=PackageLoader("api.pages"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
)
_ENVIRONMENT.filters |= {"moment": _moment, "exact": _exact}
_ENVIRONMENT.globals["static"] = static_path


async def render(resp: Response, template: str, values: dict[str, Any]) -> None:
    """Answer with a page. It is rendered in a thread, because a long page would hold up the event loop."""
    secure(resp)
    resp.content_type = HTML
    resp.data = await asyncio.to_thread(lambda: _ENVIRONMENT.get_template(template).render(values).encode())
