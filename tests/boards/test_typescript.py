"""The shipped boards, checked by the TypeScript compiler against the types of Grafana."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.boards.shipped import boards
from tests.harness.packaging import TOP

REQUIRED = "LABLEDGER_TEST_GRAFANA_SCHEMA"
INSTALLED = TOP / "build" / "grafana-schema" / "node_modules"
TYPES = Path(__file__).parent / "typescript" / "board.ts"
OPTIONS = "--noEmit --strict --skipLibCheck --module nodenext --moduleResolution nodenext --target es2022"


@pytest.fixture
def compiler(tmp_path: Path) -> Path:
    """Return a folder where TypeScript finds the packages, or skip the test, unless the run requires it."""
    node = shutil.which("node")
    if node is None or not INSTALLED.exists():
        missing = "the types of Grafana are not installed: run .ci/grafana-schema"
        if os.environ.get(REQUIRED) == "required":
            pytest.fail(missing)
        pytest.skip(missing)
    (tmp_path / "node_modules").symlink_to(INSTALLED)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    return tmp_path


def compiled(folder: Path, found: dict[str, dict[str, Any]]) -> str:
    """Return what the compiler says about boards; nothing if they are right."""
    text = TYPES.read_text("utf-8") + "\n".join(_declarations(found))
    (folder / "boards.ts").write_text(text, "utf-8")
    command = ["node", "node_modules/typescript/bin/tsc", *OPTIONS.split(), "boards.ts"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode == 0) == (done.stdout == ""), done.stdout + done.stderr
    return done.stdout


def _declarations(found: dict[str, dict[str, Any]]) -> Iterator[str]:
    for file, board in found.items():
        name = file.removesuffix(".json")
        yield f"export const {name}: Board = {json.dumps(board)};"
        for panel in board["panels"]:
            kind, of = panel["type"], f"{name}_{panel['id']}"
            custom = panel.get("fieldConfig", {}).get("defaults", {}).get("custom", {})
            yield f"export const {of}_options: Options<'{kind}'> = {json.dumps(panel.get('options', {}))};"
            yield f"export const {of}_custom: Custom<'{kind}'> = {json.dumps(custom)};"


def test_boards__checked_by_tsc__have_the_types_of_grafana(compiler: Path) -> None:
    assert compiled(compiler, boards()) == ""


FAULTS: list[tuple[tuple[str | int, ...], str, object, str]] = [
    ((), "refreshs", "1m", "'\"refreshs\"' does not exist"),
    (("panels", 0, "gridPos"), "w", "12", "Type 'string' is not assignable to type 'number'"),
    (("panels", 0, "options"), "unknown", True, "'\"unknown\"' does not exist"),
    (("templating", "list", 0), "type", "constants", "Type '\"constants\"' is not assignable"),
]


@pytest.mark.parametrize(
    ("place", "key", "value", "said"),
    [FAULTS[0], *(pytest.param(*fault, marks=pytest.mark.soak) for fault in FAULTS[1:])],
)
def test_boards__planted_fault__found_by_tsc(
    compiler: Path, place: tuple[str | int, ...], key: str, value: object, said: str
) -> None:
    found = boards()
    part: Any = found["wall.json"]
    for step in place:
        part = part[step]
    part[key] = value
    assert said in compiled(compiler, found)
