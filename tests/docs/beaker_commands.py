"""Generator of the commands in docs/from-beaker.md: `python -m tests.docs.beaker_commands` writes them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from cli.beaker_verbs import COMMANDS, WITHOUT

PAGE = Path(__file__).resolve().parents[2] / "docs" / "from-beaker.md"
REGENERATE = "python -m tests.docs.beaker_commands"
HEADING = "\n## Commands\n"


def page() -> str:
    """Return the page, its table of commands as the code has them."""
    before, heading, rest = PAGE.read_text("utf-8").partition(HEADING)
    section, next_heading, after = rest.partition("\n## ")
    prose = section[: section.index("\n| ")]
    return "".join([before, heading, prose, "\n", "\n".join(_rows()), "\n", next_heading, after])


def _rows() -> Iterator[str]:
    yield "| in Beaker | here |"
    yield "|---|---|"
    for verb, commands in COMMANDS.items():
        yield f"| `{verb}` | {' or '.join(f'`labledger {words}`' for words in commands)} |"
    for verb, reason in WITHOUT.items():
        yield f"| `{verb}` | none: {reason} |"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
