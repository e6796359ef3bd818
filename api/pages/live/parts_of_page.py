"""The live parts of a rendered page: the HTML between the marks that the template macro `live` writes."""

from __future__ import annotations

import re
from typing import Final

_PART: Final = re.compile(r'<div data-part="([a-z-]+)">(.*?)</div><!--/\1-->', re.DOTALL)

_AGE: Final = re.compile(r"<span data-age>[^<]*</span>")


def live_parts(text: str) -> dict[str, str]:
    """Return name -> HTML of the live parts of a page."""
    return dict(_PART.findall(text))


def without_ages(html: str) -> str:
    """Return a part without what changes by time alone: browsers keep the ages current themselves."""
    return _AGE.sub("", html)
