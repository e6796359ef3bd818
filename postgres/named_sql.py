"""Named queries in `.sql` files: a line `-- name: NAME` before each query."""

from __future__ import annotations

import re
from pathlib import Path

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


def named_queries(file: Path) -> dict[str, bytes]:
    """Return name -> query. Queries are bytes, because psycopg types accept bytes as trusted SQL."""
    parts = _NAME.split(file.read_text("utf-8"))
    names, texts = parts[1::2], parts[2::2]
    if len(set(names)) != len(names):
        raise ValueError(f"{file.name} names a query twice")
    return {name: text.strip().rstrip(";").encode() for name, text in zip(names, texts, strict=True)}
