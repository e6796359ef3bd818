"""The page docs/from-beaker.md, with a table in a section replaced."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "from-beaker.md"


def table_of_page(heading: str, rows: Iterable[str]) -> str:
    """Return the page, with these rows as the table of the section with a heading."""
    before, heading, rest = PAGE.read_text("utf-8").partition(heading)
    section, next_heading, after = rest.partition("\n## ")
    prose = section[: section.index("\n| ")]
    return "".join([before, heading, prose, "\n", "\n".join(rows), "\n", next_heading, after])
