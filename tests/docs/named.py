"""What a page names: files, pages, and commands of the command line with their options."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click

from cli import main
from tests.docs.page import TOP

CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
# A path from the top, or what only a file of this project can be.
PATH = re.compile(
    r"(?<![\w./~*-])(?:(?:api|bench|cli|domain|postgres|projections|replay|runtime|store|workers|tests|script|deploy|docs|\.ci)/[\w./-]*\w/?|[\w./-]+\.(?:py|sql|rng))"
)
LABLEDGER = re.compile(r"\blabledger((?: +[^\s`|;&<>()\"']+)+)")
# What ends a command is no part of it.
END = re.compile(r"[:,.]$")


def links(page: Path) -> Iterator[tuple[Path, str]]:
    """The files that a page leads to, and the headings in them."""
    for target in LINK.findall(CODE.sub("", page.read_text("utf-8"))):
        if "://" not in target:
            file, _, heading = target.partition("#")
            yield (page.parent / file).resolve() if file else page, heading


def anchors(page: Path) -> set[str]:
    """Of its headings: letters, digits, dashes and underscores, as pages that show it make them."""
    headings = HEADING.findall(
        re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    )
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def paths(page: Path) -> Iterator[str]:
    for code in CODE.findall(page.read_text("utf-8")):
        yield from PATH.findall(code)


def is_there(path: str) -> bool:
    """From the top, or for a name alone, or the end of a path, anywhere."""
    return (TOP / path).exists() or any(f"/{file}".endswith(f"/{path}") for file in _files())


@cache
def _files() -> tuple[str, ...]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=TOP, check=True, capture_output=True, text=True
    )
    return tuple(listed.stdout.splitlines())


def commands_named(page: Path) -> Iterator[list[str]]:
    """The words behind each `labledger` in code, up to the end of the line."""
    for code in CODE.findall(page.read_text("utf-8")):
        if code.startswith("```sql"):
            continue
        for words in LABLEDGER.findall(code):
            yield [END.sub("", word) for word in words.split()]


def faults(words: list[str]) -> Iterator[str]:
    """What of a command there is not."""
    command: click.Command = main
    context = click.Context(main)
    known = {"--help", "-h"}
    for word in words:
        known |= {option for param in command.params for option in param.opts + param.secondary_opts}
        if word.startswith("-") and len(word) > 1:
            option = word.partition("=")[0]
            if option not in known:
                yield f"{command.name} has no {option}"
        elif isinstance(command, click.Group) and word.isascii() and word.islower():
            found = command.get_command(context, word)
            if found is None:
                yield f"{command.name} has no {word}"
                return
            command = found
