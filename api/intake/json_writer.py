"""Conversion of a stored job to JSON that reads back to the same document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from api.intake.document import chosen_fields


def write_json(document: Mapping[str, Any], default_tag: str | None) -> bytes:
    """Return `JobSpec.document` as indented JSON, without fields that have their default."""
    return orjson.dumps(chosen_fields(document, default_tag), option=orjson.OPT_INDENT_2)
