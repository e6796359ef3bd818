"""How long recipes were in their states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.rest.reading import At
from api.rest.resources.shapes import Row, seconds_document
from projections.reader import Reader


async def seconds(reader: Reader, asked: Mapping[str, Any], at: At) -> Row:
    """Those of the recipes asked for in each state, up to the moment that the answer speaks of."""
    rows = await reader.rows("seconds_in_states", {**asked, "moment": at.moment})
    return seconds_document(rows)
