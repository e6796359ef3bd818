"""References in a page: links, files, and commands with their options."""

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
# A path from the top, or a name with an extension that files of this project have.
PATH = re.compile(
    r"(?<![\w./~*-])(?:(?:api|bench|cli|domain|postgres|projections|replay|runtime|store|workers|tests|script|deploy|docs|\.ci)/[\w./-]*\w/?|[\w./-]+\.(?:py|sql|rng))"
)
LABLEDGER = re.compile(r"\blabledger((?: +[^\s`|;&<>()\"']+)+)")
# Punctuation behind a command.
END = re.compile(r"[:,.]$")


def links(page: Path) -> Iterator[tuple[Path, str]]:
    """Yield the files that a page links to, and the headings in them."""
    for target in LINK.findall(CODE.sub("", page.read_text("utf-8"))):
        if "://" not in target:
            file, _, heading = target.partition("#")
            yield (page.parent / file).resolve() if file else page, heading


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings, as Markdown viewers build them."""
    headings = HEADING.findall(
        re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    )
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def paths(page: Path) -> Iterator[str]:
    for code in CODE.findall(page.read_text("utf-8")):
        yield from PATH.findall(code)


def is_there(path: str) -> bool:
    """Return whether a path exists from the top, ends the path of a file, or is a module like `store.sql`."""
    module = TOP / f"{path.replace('.', '/')}.py"
    return (
        (TOP / path).exists() or module.exists() or any(f"/{file}".endswith(f"/{path}") for file in _files())
    )


@cache
def _files() -> tuple[str, ...]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=TOP, check=True, capture_output=True, text=True
    )
    return tuple(listed.stdout.splitlines())


def commands_named(page: Path) -> Iterator[list[str]]:
    """Yield the words after each `labledger` in code, up to the end of the line."""
    for code in CODE.findall(page.read_text("utf-8")):
        if code.startswith("```sql"):
            continue
        for words in LABLEDGER.findall(code):
            yield [END.sub("", word) for word in words.split()]


def faults(words: list[str]) -> Iterator[str]:
    """Yield the subcommands and options of a command that do not exist."""
    command: click.Command = main
    context = click.Context(main)
    options = {"--help", "-h"}
    for word in words:
        options |= {option for param in command.params for option in param.opts + param.secondary_opts}
        if word.startswith("-") and len(word) > 1:
            option = word.partition("=")[0]
            if option not in options:
                yield f"{command.name} has no {option}"
        elif isinstance(command, click.Group) and word.isascii() and word.islower():
            found = command.get_command(context, word)
            if found is None:
                yield f"{command.name} has no {word}"
                return
            command = found
