"""Locks in source texts: code that makes a lock, and statements that take one in the database."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.language import PRODUCT, TOP

DECLARATION = "runtime/locks.py"

FORBIDDEN: Mapping[str, frozenset[str]] = {
    "threading": frozenset(
        {"Lock", "RLock", "Condition", "Semaphore", "BoundedSemaphore", "Barrier", "_RLock", "_allocate_lock"}
    ),
    "_thread": frozenset({"allocate_lock", "allocate", "RLock", "LockType"}),
    "asyncio": frozenset({"Lock", "Condition", "Semaphore", "BoundedSemaphore", "Barrier"}),
    "asyncio.locks": frozenset({"Lock", "Condition", "Semaphore", "BoundedSemaphore", "Barrier"}),
    "multiprocessing": frozenset({"Lock", "RLock", "Condition", "Semaphore", "BoundedSemaphore", "Barrier"}),
    "fcntl": frozenset({"flock", "lockf", "fcntl"}),
    "os": frozenset({"lockf"}),
}
"""What makes a lock, by module."""

MUTABLE = frozenset(
    {"dict", "list", "set", "deque", "OrderedDict", "defaultdict", "Counter", "WeakValueDictionary"}
)

# `LOCK TABLE`, locks of rows and advisory locks, and changes of rows that others may change at the same time.
WORDS = re.compile(
    r"LOCK TABLE [\w.{}]+"
    r"|pg_(?:try_)?advisory_(?:xact_)?lock(?:_shared)?"
    r"|FOR (?:NO KEY UPDATE|UPDATE|KEY SHARE|SHARE)\b(?: SKIP LOCKED| NOWAIT)?"
    r"|DO UPDATE\b"
    r"|(?<!DO )(?<!FOR )(?<!KEY )(?<!, )\bUPDATE (?:ONLY )?(?!SET\b|ON\b)[\w.{}]+"
)
# Migrations run one at a time, under the lock of migrations. Only their locks of tables meet others.
OF_MIGRATIONS = ("LOCK TABLE", "pg_")
PATTERNS_OF_PLACES = re.compile(
    r"^-- name: (?P<query>\w+)$"
    r"|^CREATE (?:OR REPLACE )?FUNCTION (?P<function>[\w.]+)"
    r"|^(?P<end>\$\$;|\$\$ LANGUAGE.*;|END \$\$;)$",
    re.MULTILINE,
)

Place = tuple[str, str]
"""The place of a statement, and its words that take a lock."""


def product_files(suffix: str) -> list[Path]:
    return sorted(file for folder in PRODUCT for file in (TOP / folder).rglob(f"*{suffix}"))


def made_locks(source: str) -> list[str]:
    """Return the names in Python code that make a lock without its class."""
    tree = ast.parse(source)
    annotations = {id(node) for found in _annotations(tree) for node in ast.walk(found)}
    modules: dict[str, str] = {}
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names = FORBIDDEN.get(node.module)
            if names is not None:
                found += [f"{node.module}.{a.name}" for a in node.names if a.name in {*names, "*"}]
            modules |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and id(node) not in annotations:
            base = ast.unparse(node.value)
            module = modules.get(base, base)
            if node.attr in FORBIDDEN.get(module, ()) or module.startswith("multiprocessing."):
                found.append(f"{module}.{node.attr}")
    return found


def _annotations(tree: ast.AST) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign | ast.arg) and node.annotation is not None:
            yield node.annotation
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns is not None:
            yield node.returns


def unshared_collections(source: str) -> list[str]:
    """Return the collections that are attributes beside a mutex or condition, and are not declared shared."""
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.ClassDef):
            continue
        values = [(target, value) for target, value in _attributes(node) if value is not None]
        if any(_called(value) in ("mutex", "condition") for _, value in values):
            found += [f"{node.name}.{target}" for target, value in values if _is_mutable(value)]
    return found


def _attributes(node: ast.ClassDef) -> Iterator[tuple[str, ast.expr | None]]:
    for part in ast.walk(node):
        if isinstance(part, ast.Assign):
            yield from ((target.attr, part.value) for target in part.targets if _is_of_self(target))
        elif isinstance(part, ast.AnnAssign) and _is_of_self(part.target):
            yield part.target.attr, part.value


def _is_of_self(target: ast.expr) -> bool:
    return isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self"


def _is_mutable(value: ast.expr) -> bool:
    display = (ast.Dict, ast.List, ast.Set, ast.DictComp, ast.ListComp, ast.SetComp)
    return isinstance(value, display) or _called(value) in MUTABLE or _called(value) == "fromkeys"


def _called(value: ast.expr) -> str:
    """Return the last part of the name of a called function, "" for any other expression."""
    if not isinstance(value, ast.Call):
        return ""
    return ast.unparse(value.func).partition("[")[0].rpartition(".")[2]


def places_in_sql(path: str, text: str) -> set[Place]:
    """Return the places in an SQL file that take a lock."""
    text = re.sub(r"--(?! name:).*", "", text)
    found: set[Place] = set()
    marks = [(match.start(), match) for match in PATTERNS_OF_PLACES.finditer(text)]
    for match in WORDS.finditer(text):
        before = [mark for start, mark in marks if start < match.start()]
        place = _place(path, before[-1] if before else None)
        if place != path or match[0].startswith(OF_MIGRATIONS):
            found.add((place, match[0]))
    return found


def _place(path: str, mark: re.Match[str] | None) -> str:
    if mark is None or mark["end"]:
        return path
    return f"{mark['function']}()" if mark["function"] else f"{path}:{mark['query']}"


def places_in_python(path: str, source: str) -> set[Place]:
    """Return the places in Python code that take a lock by a statement."""
    tree = ast.parse(source)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    texts: list[str] = []
    for node in ast.walk(tree):
        if id(node) in docstrings or id(node) in parts:
            continue
        if isinstance(node, ast.JoinedStr):
            values = (value.value if isinstance(value, ast.Constant) else "{}" for value in node.values)
            texts.append("".join(map(str, values)))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
            texts.append(node.value if isinstance(node.value, str) else node.value.decode("utf-8", "ignore"))
    return {(path, words) for text in texts for words in WORDS.findall(text)}


def all_places() -> set[Place]:
    """Return all places of the product."""
    found: set[Place] = set()
    for suffix, places in ((".sql", places_in_sql), (".py", places_in_python)):
        for file in product_files(suffix):
            name = str(file.relative_to(TOP))
            if name != DECLARATION:
                found |= places(name, file.read_text("utf-8"))
    return found
