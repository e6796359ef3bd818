"""A checker for syntax trees, which finds code whose result depends on more than its arguments.

It checks names, not values, so a clock behind `getattr` is not found. It is meant for mistakes, not for
malicious code.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

CLOCK = "The time is an argument: take `now`, which the log keeps, so that a replay sees the same time."
DICE = "Chance does not replay. Derive the choice from what the log has (a hash of cause and recipe id)."
WORLD = "The domain neither reads nor writes: return a value, and let `api/` act on it."
HASHES = "It differs from process to process. Compare the values, or use a digest of them."
ORDER = "Sets have no order that two processes agree on: go through `sorted(...)`, or keep a dictionary."

# Forbidden modules, by import name.
MODULES = {
    "time": CLOCK,
    "random": DICE,
    "secrets": DICE,
    "os": WORLD,
    "sys": WORLD,
    "io": WORLD,
    "pathlib": WORLD,
    "logging": WORLD,
    "socket": WORLD,
    "subprocess": WORLD,
    "threading": WORLD,
    "asyncio": WORLD,
}
# Forbidden attributes of imported modules and classes.
ATTRIBUTES = {
    "now": CLOCK,
    "utcnow": CLOCK,
    "today": CLOCK,
    "uuid1": DICE,
    "uuid4": DICE,
    "urandom": DICE,
    "environ": WORLD,
    "getenv": WORLD,
}
BUILTINS = {"open": WORLD, "print": WORLD, "input": WORLD, "hash": HASHES, "id": HASHES}
# Functions whose result depends on the order of the argument, unlike `sorted`, `min` or `len`.
ORDERED = {"list", "tuple", "iter", "next", "enumerate", "zip", "map", "filter", "reversed", "reduce", "dict"}


@dataclass(frozen=True)
class Impurity:
    line: int
    what: str
    why: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}. {self.why}"


def impurities(source: str) -> list[Impurity]:
    tree = ast.parse(source)
    found = [*_imports(tree), *_uses(tree), *_set_orders(tree)]
    return sorted(found, key=lambda impurity: (impurity.line, impurity.what))


def _imports(tree: ast.AST) -> Iterator[Impurity]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
            for alias in node.names:
                if alias.name in ATTRIBUTES:
                    yield Impurity(node.lineno, f"imports {alias.name}", ATTRIBUTES[alias.name])
        else:
            continue
        for module in (name.partition(".")[0] for name in names):
            if module in MODULES:
                yield Impurity(node.lineno, f"imports {module}", MODULES[module])


def _uses(tree: ast.AST) -> Iterator[Impurity]:
    imported = _imported_names(tree)
    for node in ast.walk(tree):
        # On an imported class or module `now` is a clock; `basis.now` is the time passed to a decision.
        if isinstance(node, ast.Attribute) and node.attr in ATTRIBUTES and _root(node) in imported:
            yield Impurity(node.lineno, f"uses .{node.attr}", ATTRIBUTES[node.attr])
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in BUILTINS:
            yield Impurity(node.lineno, f"uses {node.id}()", BUILTINS[node.id])


def _imported_names(tree: ast.AST) -> set[str]:
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    aliases = [alias for node in imports for alias in node.names]
    return {(alias.asname or alias.name).partition(".")[0] for alias in aliases}


def _root(node: ast.expr) -> str | None:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _set_orders(tree: ast.AST) -> Iterator[Impurity]:
    names = _names_of_sets(tree)
    for node in ast.walk(tree):
        for gone_through in _gone_through(node):
            if _is_set(gone_through, names):
                yield Impurity(gone_through.lineno, f"goes through {ast.unparse(gone_through)}", ORDER)


def _gone_through(node: ast.AST) -> list[ast.expr]:
    """Return the expressions over which a node iterates."""
    if isinstance(node, ast.For | ast.comprehension | ast.YieldFrom):
        return [node.value if isinstance(node, ast.YieldFrom) else node.iter]
    if isinstance(node, ast.Starred):
        return [node.value]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ORDERED:
        return list(node.args)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in ("join", "extend", "fromkeys"):
            return list(node.args)
        if node.func.attr == "pop" and not node.args:
            return [node.func.value]
    return []


def _names_of_sets(tree: ast.AST) -> set[str]:
    """Return names and attributes that are assigned a set, or annotated as one, anywhere in the module."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and _is_set(node.value, names):
            names |= {ast.unparse(target) for target in node.targets}
        if isinstance(node, ast.AnnAssign) and _is_set_type(node.annotation):
            names.add(ast.unparse(node.target))
        if isinstance(node, ast.arg) and node.annotation is not None and _is_set_type(node.annotation):
            names.add(node.arg)
    return names


def _is_set_type(annotation: ast.expr) -> bool:
    outer = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    return isinstance(outer, ast.Name) and outer.id in ("set", "frozenset", "AbstractSet")


def _is_set(node: ast.expr, names: set[str]) -> bool:
    if isinstance(node, ast.Set | ast.SetComp):
        return True
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in ("set", "frozenset")
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr | ast.BitAnd | ast.Sub | ast.BitXor):
        return _is_set(node.left, names) or _is_set(node.right, names)
    return isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node) in names
