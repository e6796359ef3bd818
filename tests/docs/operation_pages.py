"""The statements, commands and configuration files of the pages on operation, for tests that execute them."""

from __future__ import annotations

import re
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
DOCS = TOP / "docs"
DEPLOY = TOP / "deploy"


def sql_blocks() -> list[str]:
    return _blocks("sql", (DOCS / "operation.md").read_text())


def shell_blocks(chapter: str) -> list[str]:
    """Return the `sh` blocks of a chapter on backups. Raises IndexError if the page has no such chapter."""
    return _blocks("sh", (DOCS / "backup.md").read_text().split(f"\n## {chapter}\n")[1].split("\n## ")[0])


def server_settings(name: str) -> dict[str, str]:
    """Return the settings of a configuration file of PostgreSQL in `deploy/`."""
    lines = (DEPLOY / "postgresql" / name).read_text().splitlines()
    pairs = (line.split(" = ", 1) for line in lines if line and not line.startswith("#"))
    return {setting: value.strip("'") for setting, value in pairs}


def _blocks(language: str, text: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
