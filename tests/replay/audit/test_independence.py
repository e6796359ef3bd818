"""The audit shares no code, not even a type, with the code that it checks."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from replay import audit

AUDIT = sorted(Path(audit.__file__).parent.rglob("*.py"))
PROJECT = {"domain", "projections", "replay", "api", "postgres", "tests"}


def imported(source: str) -> Iterator[tuple[str, str]]:
    """Yield each imported module with the imported name ("" for the module itself)."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            # A relative import stays in this folder, or is not allowed.
            module = "." * node.level + (node.module or "")
            yield from ((module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Name) and node.id in ("__import__", "import_module"):
            yield node.id, ""


def foreign(source: str) -> list[str]:
    return [
        f"{module} {name}".strip()
        for module, name in imported(source)
        if module.split(".")[0] in {*PROJECT, "", "__import__", "import_module", "importlib"}
        and module.split(".")[:2] != ["replay", "audit"]
    ]


@pytest.mark.parametrize("module", AUDIT, ids=lambda path: path.name)
def test_audit__every_module__imports_nothing_that_it_checks(module: Path) -> None:
    found = foreign(module.read_text())
    assert not found, f"{module.name} imports {found}: repeat the code in the audit instead"


def test_audit__in_a_process_of_its_own__loads_nothing_that_it_checks() -> None:
    """Check that no transitive import leads outside."""
    program = "import sys, replay.audit; print(*sorted(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    ours = {name for name in ran.stdout.split() if name.split(".")[0] in PROJECT}
    beside = {name for name in ours if not name.startswith("replay.audit")}
    assert beside == {"replay"}


@pytest.mark.parametrize(
    "planted",
    [
        "from domain.scheduling.decisions.decide import decide",
        "import domain.recipe_set.members",
        "from domain import lifecycle",
        "from domain.events import Recorded",
        "import domain.events",
        "from replay.verify.recorded_decisions import commits",
        "from replay import verify",
        "from tests.domain.scheduling import world",
        "from ..domain.scheduling import world",
        "import importlib",
        "decide = __import__('domain.scheduling.decisions.decide')",
        "def late():\n    from api.rest import events",
    ],
)
def test_foreign__planted_import__is_found(planted: str) -> None:
    assert foreign(planted)
