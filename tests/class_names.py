"""Rule of class names: a name has one meaning in the whole product.

Some packages show things of the domain in another form, and use the same names for them on purpose. A
protocol may have the name of the class that it stands for.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

DOMAIN = "domain"
MIRRORS = (
    "api.intake.document",
    "api.rest.contract.answers",
    "api.rest.contract.inputs",
    "api.rest.resources",
    # It repeats the rules of the domain without its code.
    "replay.audit",
)
BETTER = "Choose a name that says what is special about this class; see docs/glossary.md."

Places = dict[str, list[str]]


def clashes(modules: Mapping[str, str]) -> list[str]:
    """Return the class names with more than one meaning, from the source texts of modules by dotted name."""
    places: dict[str, Places] = defaultdict(lambda: defaultdict(list))
    for module, text in modules.items():
        for name in _classes(text):
            places[name][_room(module)].append(module)
    return [
        f"{name}: {', '.join(_flat(by_room))}. {BETTER}"
        for name, by_room in sorted(places.items())
        if _clashes(by_room)
    ]


def dotted_name(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def _classes(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef) and not any(_is_protocol(base) for base in node.bases):
            yield node.name


def _is_protocol(base: ast.expr) -> bool:
    return ast.unparse(base).partition("[")[0] in ("Protocol", "typing.Protocol")


def _room(module: str) -> str:
    """Return the package in which a name is unique: a mirror, the domain, or "" for the rest."""
    rooms = (room for room in (*MIRRORS, DOMAIN) if f"{module}.".startswith(f"{room}."))
    return next(rooms, "")


def _clashes(by_room: Places) -> bool:
    is_alone = len(by_room) == 1
    return any(len(modules) > 1 for modules in by_room.values()) or ("" in by_room and not is_alone)


def _flat(by_room: Places) -> Iterable[str]:
    return sorted(module for modules in by_room.values() for module in modules)
