"""Generator of the commands in docs/from-beaker.md: `python -m tests.docs.beaker_commands` writes them."""

from __future__ import annotations

from collections.abc import Iterator

from cli.beaker_verbs import COMMANDS, WITHOUT
from tests.docs.beaker_page import PAGE, table_of_page

REGENERATE = "python -m tests.docs.beaker_commands"
HEADING = "\n## Commands\n"


def page() -> str:
    """Return the page, its table of commands as the code has them."""
    return table_of_page(HEADING, _rows())


def _rows() -> Iterator[str]:
    yield "| in Beaker | here |"
    yield "|---|---|"
    for verb, commands in COMMANDS.items():
        yield f"| `{verb}` | {' or '.join(f'`labledger {words}`' for words in commands)} |"
    for verb, reason in WITHOUT.items():
        yield f"| `{verb}` | none: {reason} |"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
