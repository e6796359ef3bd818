"""The checker shares nothing with what it checks but the form in which events come."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
# Tests and the stories they tell make events; they judge nothing.
TELLERS = ("moves.py", "story.py", "planted.py")
CHECKER = sorted(
    path for path in HERE.glob("*.py") if path.name not in TELLERS and not path.name.startswith("test_")
)
SHARED = {"record.py": {"domain.events"}}
PROJECT = {"domain", "projections", "replay", "api", "tests"}


def imported(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            # A relative import stays in this folder, or is none of the checker's.
            yield "." * node.level + (node.module or "")
        elif isinstance(node, ast.Name) and node.id in ("__import__", "import_module"):
            yield node.id


def foreign(source: str, shared: set[str]) -> list[str]:
    return [
        name
        for name in imported(source)
        if name.split(".")[0] in {*PROJECT, "", "__import__", "import_module", "importlib"}
        and name not in shared
        and name.split(".")[:2] != ["tests", "checker"]
    ]


@pytest.mark.parametrize("module", CHECKER, ids=lambda path: path.name)
def test_checker__every_module__imports_nothing_that_it_checks(module: Path) -> None:
    found = foreign(module.read_text(), SHARED.get(module.name, set()))
    assert not found, f"{module.name} imports {found}: write it down once more instead"


def test_checker__its_stories__are_told_in_tests_alone() -> None:
    told = {f"tests.checker.{Path(name).stem}" for name in TELLERS}
    assert [path.name for path in CHECKER if told & set(imported(path.read_text()))] == []


@pytest.mark.parametrize(
    "planted",
    [
        "from domain.scheduling.decide import decide",
        "import domain.recipe_set.members",
        "from domain import lifecycle",
        "from tests.domain.scheduling import world",
        "from ..domain.scheduling import world",
        "import importlib",
        "decide = __import__('domain.scheduling.decide')",
        "def late():\n    from api.rest import events",
    ],
)
def test_foreign__planted_import__is_found(planted: str) -> None:
    assert foreign(planted, {"domain.events"})
