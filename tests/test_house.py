"""House rules of the tests: what is shared has a module of its own, and a test's name tells a story."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
MODULES = sorted(TESTS.rglob("*.py"))

SHARED = "A test module is nobody's library: move what is shared into a module named after what it is."
STORY = "Name it subject__situation__outcome: what is tested, when, and what then."


def faults(source: str) -> list[str]:
    tree = ast.parse(source)
    return [
        *(f"imports {name}. {SHARED}" for name in _imported(tree) if _is_test_module(name)),
        *(f"{name}. {STORY}" for name in _tests(tree) if not _tells_a_story(name)),
    ]


def _imported(tree: ast.AST) -> Iterator[str]:
    """Also what is imported from a package or a module, which may be a module itself."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "."
            yield from (alias.name for alias in node.names)


def _is_test_module(name: str) -> bool:
    return name.rpartition(".")[2].startswith("test_")


def _tests(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield node.name


def _tells_a_story(name: str) -> bool:
    parts = name.removeprefix("test_").split("__")
    return len(parts) >= 3 and all(parts)


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(TESTS)))
def test_tests__every_module__keeps_the_house_rules(module: Path) -> None:
    found = "\n".join(faults(module.read_text()))
    assert not found, f"tests/{module.relative_to(TESTS)}:\n{found}"


PLANTED = [
    # Helpers of another test, however they are imported.
    ("from tests.workers.test_lease import holder", SHARED),
    ("from tests.workers import test_lease", SHARED),
    ("from .test_lease import holder", SHARED),
    ("import tests.workers.test_lease", SHARED),
    ("def story():\n    from tests.workers.test_lease import holder", SHARED),
    # Names that leave something out.
    ("def test_lease(): ...", STORY),
    ("def test_lease__is_taken(): ...", STORY),
    ("def test_lease____is_taken(): ...", STORY),
    ("async def test_lease_held_is_not_taken(): ...", STORY),
]


@pytest.mark.parametrize(("source", "why"), PLANTED, ids=[source for source, _ in PLANTED])
def test_faults__planted__are_found_and_say_what_to_do(source: str, why: str) -> None:
    (fault,) = faults(source)
    assert fault.endswith(why)


INNOCENT = [
    "from tests.workers.leases import holder",
    "from tests.harness.databases import TestDatabase",
    "def test_lease__held_by_another__is_not_taken(): ...",
    "def tested(): ...",
]


@pytest.mark.parametrize("source", INNOCENT)
def test_faults__innocent_code__is_let_pass(source: str) -> None:
    assert faults(source) == []
