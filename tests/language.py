"""Rules of language that a program can check: `python -m tests.language [PATH...]` prints the violations.

The rules hold for docstrings, comments and names in Python, and for the pages of documentation. Each finding
shows the better form.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
PRODUCT = (
    "domain",
    "postgres",
    "runtime",
    "projections",
    "replay",
    "store",
    "workers",
    "api",
    "bench",
    "cli",
)
FOLDERS = (*PRODUCT, "tests", "docs")
# Records of the past keep their words.
PAST = (TOP / "CHANGELOG.md", TOP / "docs" / "renamed.md")

# First words that a docstring must not have.
OPENINGS = {
    *("of", "by", "as", "what", "who", "whom", "whose", "which", "whoever", "whatever", "where", "wherever"),
    *("when", "whenever", "whether", "how", "why", "that", "if", "so", "until", "while", "since", "because"),
    *("to", "for", "from", "in", "on", "at", "with", "without", "after", "before", "than", "then", "there"),
    *(
        "nobody",
        "somebody",
        "anybody",
        "everybody",
        "nothing",
        "something",
        "everything",
        "it",
        "its",
        "they",
    ),
    *("those", "he", "we", "not", "but", "or", "and", "otherwise", "else", "once", "unless", "also", "only"),
    *("same", "the same"),
}
OPENING = "a verb: Return, Append, Raise, Yield, Check; for a class or module the thing itself"
# Words that a text must not contain, with better ones.
WORDS = {
    r"told": "serialised, reported, notified, or the name of what was reported",
    r"known": "cached, registered, existing, or nothing at all",
    r"forgotten": "invalidated, dropped",
    r"taken? back|took back": "roll back, rolled back",
    r"supposed?(?! to\b)|supposing": "tentative, apply tentatively",
    r"packed": "compressed",
    r"ma[dk]e again|making again": "recompute, recomputed",
    r"circles?": "cycle",
    r"come in|came in": "authenticate, arrive",
    r"whos": "submitters, users",
    r"who(m|so)?ever": "the caller, the user, any user",
    r"so many(?! (?:\w+ )?that\b)": "the number, the maximum number",
    r"of which|of whom|of whose|by which|by whom": "a sentence of its own with a named subject",
    r"what is (held|asked|kept|meant|wanted|needed|written|shown)": "the noun: held systems, the query",
    r"(?:^|[.,:;(] )who (waits|asks|holds|has|may|reads|writes|wants|needs)": "the noun: waiting recipes",
    r"left alone|leave alone|leaves alone": "skipped, skip",
    r"look(s|ed)? again": "refresh, check again",
    r"all one(?=[.,:;)]|$)": "equivalent",
    r"(?:is|be|was|were) otherwise(?= than|[.,:;)]|$)": "differ, change",
}
# Parts of names that say nothing, with better ones.
PARTS_OF_NAMES = {
    "told": "serialised, reported, notified",
    "known": "registered, cached, existing",
    "whos": "submitters",
    "whoever": "any_user",
    "supposed": "tentative",
    "packed": "compressed",
    "most": "max",
}
# First parts of constants with a `limit` that are clear.
CLEAR_LIMITS = ("max", "min", "default")

_PATTERNS = {
    re.compile(rf"(?<![\w`'-])(?:{words})(?![\w`'-])", re.IGNORECASE): better
    for words, better in WORDS.items()
}
_ANY_WORD = re.compile("|".join(pattern.pattern for pattern in _PATTERNS), re.IGNORECASE)


@dataclass(frozen=True)
class Finding:
    """A violation of a rule, with its place and a better form."""

    path: Path
    line: int
    found: str
    better: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(TOP)}:{self.line}: {self.found} -> {self.better}"


def findings(paths: list[Path]) -> Iterator[Finding]:
    """Yield the violations in Python files and Markdown pages."""
    for path in paths:
        yield from in_python(path) if path.suffix == ".py" else in_page(path)


def sources(*under: str) -> list[Path]:
    """Return the Python files and pages of the repository, or of some of its folders and files."""
    paths = [TOP / name for name in under] or [*(TOP / name for name in FOLDERS), *TOP.glob("*.md")]
    files = (file for path in paths for file in ([path] if path.is_file() else path.rglob("*.*")))
    return sorted(file for file in files if file.suffix in (".py", ".md") and file not in PAST)


def in_python(path: Path, text: str | None = None) -> Iterator[Finding]:
    """Yield the violations in a Python file, or in `text` as if it were that file."""
    if path == Path(__file__).resolve():
        return
    text = path.read_text() if text is None else text
    yield from _parts(path, 1, path.stem)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _docstring(path, node)
        yield from _name(path, node)
    if any("#" in line and _ANY_WORD.search(line) for line in text.splitlines()):
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
    first, *rest = re.findall(r"[\w'`/-]+", text)[:2] or [""]
    for opening in (first, " ".join([first, *rest])):
        if opening.lower() in OPENINGS:
            yield Finding(path, line, f'docstring opens with "{opening}"', OPENING)
            break
    yield from _words(path, line, text)


def _words(path: Path, line: int, text: str) -> Iterator[Finding]:
    for number, part in enumerate(text.splitlines()):
        if _ANY_WORD.search(part):
            for words, better in _PATTERNS.items():
                for match in words.finditer(part):
                    yield Finding(path, line + number, f'"{match.group()}"', better)


def _name(path: Path, node: ast.AST) -> Iterator[Finding]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield from _parts(path, node.lineno, node.name)
    elif isinstance(node, ast.arg):
        yield from _parts(path, node.lineno, node.arg)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield from _limit(path, node.lineno, node.id) if node.id.isupper() else ()
        yield from _parts(path, node.lineno, node.id)
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        yield from _parts(path, node.lineno, node.attr)


def _parts(path: Path, line: int, name: str) -> Iterator[Finding]:
    for part in re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().split("_"):
        if better := PARTS_OF_NAMES.get(part):
            yield Finding(path, line, f"name {name}", better)


def _limit(path: Path, line: int, name: str) -> Iterator[Finding]:
    parts = name.lower().strip("_").split("_")
    if "limit" in parts and parts[0] not in CLEAR_LIMITS:
        yield Finding(path, line, f"limit {name}", "MAX_… without LIMIT")


def in_page(path: Path, text: str | None = None) -> Iterator[Finding]:
    """Yield the violations in a page, or in `text` as if it were that page; code is not checked."""
    fenced = False
    for number, line in enumerate((path.read_text() if text is None else text).splitlines(), 1):
        fenced ^= line.lstrip().startswith("```")
        if not fenced:
            yield from _words(path, number, re.sub(r"`[^`]*`|\]\([^)]*\)", "", line))


if __name__ == "__main__":
    found = list(findings(sources(*sys.argv[1:])))
    print(*found, f"{len(found)} findings", sep="\n")
    sys.exit(bool(found))
