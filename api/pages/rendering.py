"""Rendering of templates: everything is escaped, and an undefined name is an error."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import orjson
from falcon.asgi import Response
from jinja2 import Environment, PackageLoader, StrictUndefined

from api.durations import duration
from api.pages import elements
from api.pages.security import HTML, secure
from api.pages.static_files import static_path

_ENVIRONMENT: Final = Environment(
    loader=PackageLoader("api.pages"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
    finalize=elements.visible,
)
_ENVIRONMENT.filters |= {
    "when": elements.when,
    "until": elements.until,
    "exact": elements.exact,
    "moment": elements.moment,
    "tick": elements.tick,
    "duration": duration,
    "reason": elements.reason,
    "cut": elements.cut,
    "words": elements.words,
    "pretty": elements.pretty,
    "as_text": elements.as_text,
}
_ENVIRONMENT.tests["failed"] = elements.has_failed
_ENVIRONMENT.globals |= {
    "static": static_path,
    "external_link": elements.external_link,
    "log_links": elements.log_links,
    "result_cells": elements.result_cells,
    "whole_text": elements.whole_text,
    "lock_text": elements.lock_text,
}


async def render(resp: Response, template: str, page: Any, values: dict[str, Any]) -> None:
    """Answer with a page. It is rendered in a thread, because a long page would hold up the event loop."""
    secure(resp)
    resp.content_type = HTML
    resp.data = await asyncio.to_thread(_rendered, template, page, values)


def _rendered(template: str, page: Any, values: dict[str, Any]) -> bytes:
    """Return a page. Its values pass through JSON, so they are those of an answer of the HTTP API."""
    return _ENVIRONMENT.get_template(template).render(plain(values), page=page).encode()


def plain(values: dict[str, Any]) -> dict[str, Any]:
    """Return values as the HTTP API writes them."""
    written: dict[str, Any] = orjson.loads(orjson.dumps(values, option=orjson.OPT_UTC_Z))
    return written
