"""Pages that depend on their user: each user has a live view of them."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

# The home page, the reader's tokens and jobs, and the page of one thing, whose actions depend on the reader.
_PERSONAL: Final = re.compile(r"/ui(/?(\?|$)|/tokens|/jobs/?\?.*\bmine=true|/[a-z-]+/[^/?]+/?(\?|$))")


def is_personal(address: str) -> bool:
    """Return whether a page depends on more than the role of its reader and the systems that he sees."""
    return _PERSONAL.match(unquote(address)) is not None
