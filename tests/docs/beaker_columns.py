"""Generator of the columns in docs/from-beaker.md: `python -m tests.docs.beaker_columns` writes them."""

from __future__ import annotations

from collections.abc import Iterator

from api.intake.beaker_columns import KINDS
from tests.docs.beaker_page import PAGE, table_of_page

REGENERATE = "python -m tests.docs.beaker_columns"
HEADING = "\n### Columns\n"


def page() -> str:
    """Return the page, its table of columns as the code has them."""
    return table_of_page(HEADING, _rows())


def _rows() -> Iterator[str]:
    yield "| kind | column | becomes |"
    yield "|---|---|---|"
    for name, kind in KINDS.items():
        for column, declared in kind.columns.items():
            becomes = f"nothing: {kind.not_imported}" if kind.not_imported else declared.words()
            yield f"| `{name}` | `{column}` | {becomes} |"
        for column, reason in kind.ignored.items():
            yield f"| `{name}` | `{column}` | nothing: {reason} |"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
