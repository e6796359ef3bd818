"""Rules of language that a program can check: `python -m tests.language [PATH...]` prints what breaks them.

The rules hold for docstrings, comments and names in Python, and for the pages of documentation. Each finding
shows the better form.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent

# How a docstring does not open, and how it could.
OPENINGS = {
    "a verb: Return, Append, Raise, Yield, Check; for a class or module the thing itself": (
        *(
            "of",
            "by",
            "as",
            "what",
            "who",
            "whom",
            "whose",
            "which",
            "whoever",
            "whatever",
            "where",
            "wherever",
        ),
        *(
            "when",
            "whenever",
            "whether",
            "how",
            "why",
            "that",
            "if",
            "so",
            "until",
            "while",
            "since",
            "because",
        ),
        *(
            "to",
            "for",
            "from",
            "in",
            "on",
            "at",
            "with",
            "without",
            "after",
            "before",
            "than",
            "then",
            "there",
        ),
        *(
            "nobody",
            "somebody",
            "anybody",
            "everybody",
            "nothing",
            "something",
            "same",
            "the same",
            "also",
            "only",
        ),
        *("it", "they", "he", "we", "not", "but", "or", "and", "otherwise", "else", "once"),
    )
}
# What a text does not say, and what it says instead.
WORDS = {
    r"told": "serialised, reported, notified, or the name of what was reported",
    r"known": "cached, registered, existing, or nothing at all",
    r"forgotten": "invalidated, dropped",
    r"taken? back|took back": "roll back, rolled back",
    r"supposed?|supposing": "tentative, apply tentatively",
    r"packed": "compressed",
    r"ma[dk]e again|making again": "recompute, recomputed",
    r"circles?": "cycle",
    r"come in|came in": "authenticate, arrive",
    r"whos": "submitters, users",
    r"who(m|so)?ever": "the caller, the user, any user",
    r"so many": "the number, the maximum number",
    r"of which|of whom|of whose|by which|by whom": "a sentence of its own with a named subject",
    r"what is (held|asked|kept|meant|wanted|needed|written|shown)": "the noun: held systems, the query",
    r"(?:^|[.,:;(] )who (waits|asks|holds|has|may|reads|writes|wants|needs)": "the noun: waiting recipes",
    r"left alone|leave alone|leaves alone": "skipped, skip",
    r"look(s|ed)? again": "refresh, check again",
    r"all one": "equivalent",
    r"is otherwise|be otherwise|was otherwise": "differ, change",
}
# Parts of names that say nothing, and what a name says instead.
PARTS_OF_NAMES = {
    "told": "serialised, reported, notified",
    "known": "registered, cached, existing",
    "whos": "submitters",
    "whoever": "any_user",
    "supposed": "tentative",
    "packed": "compressed",
    "most": "max",
}

_WORDS = {
    re.compile(rf"(?<![\w`'-])(?:{words})(?![\w`'-])", re.IGNORECASE): better
    for words, better in WORDS.items()
}
_OPENING = {word: better for better, words in OPENINGS.items() for word in words}


@dataclass(frozen=True)
class Finding:
    """A text that breaks a rule, with its place and a better form."""

    path: Path
    line: int
    found: str
    better: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(TOP)}:{self.line}: {self.found} -> {self.better}"


def findings(paths: list[Path]) -> Iterator[Finding]:
    """Yield what breaks the rules in Python files and Markdown pages."""
    for path in paths:
        yield from _in_python(path) if path.suffix == ".py" else _in_page(path)


def sources(*under: str) -> list[Path]:
    """Return the Python files and pages that git tracks, but for records of the past."""
    listed = subprocess.run(
        ["git", "ls-files", *under], cwd=TOP, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    past = ("CHANGELOG.md", "docs/renamed.md")
    return [TOP / name for name in listed if name.endswith((".py", ".md")) and name not in past]


def _in_python(path: Path) -> Iterator[Finding]:
    if path == Path(__file__).resolve():
        return
    text = path.read_text()
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _docstring(path, node)
        yield from _name(path, node)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield from _words(path, token.start[0], token.string)


def _docstring(
    path: Path, node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
) -> Iterator[Finding]:
    text = ast.get_docstring(node)
    if not text:
        return
    line = node.body[0].lineno
    first, *rest = re.findall(r"[\w'`/]+", text)[:2] or [""]
    for opening in (first, " ".join([first, *rest])):
        if better := _OPENING.get(opening.lower()):
            yield Finding(path, line, f'docstring opens with "{opening}"', better)
            break
    yield from _words(path, line, text)


def _words(path: Path, line: int, text: str) -> Iterator[Finding]:
    for number, part in enumerate(text.splitlines()):
        for words, better in _WORDS.items():
            for match in words.finditer(part):
                yield Finding(path, line + number, f'"{match.group()}"', better)


def _name(path: Path, node: ast.AST) -> Iterator[Finding]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        name = node.name
    elif isinstance(node, ast.arg):
        name = node.arg
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        name = node.id
    else:
        return
    for part in re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().split("_"):
        if better := PARTS_OF_NAMES.get(part):
            yield Finding(path, node.lineno, f"name {name}", better)


def _in_page(path: Path) -> Iterator[Finding]:
    fenced = False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        fenced ^= line.lstrip().startswith("```")
        if not fenced:
            yield from _words(path, number, re.sub(r"`[^`]*`|\]\([^)]*\)", "", line))


if __name__ == "__main__":
    found = list(findings(sources(*sys.argv[1:])))
    print(*found, f"{len(found)} findings", sep="\n")
    sys.exit(bool(found))
