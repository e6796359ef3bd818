"""The shipped boards, as Grafana reads them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from projections.boards.files import BOARDS, SHIPPED

POSTGRESQL, PROMETHEUS = "grafana-postgresql-datasource", "prometheus"


class ShippedTarget(NamedTuple):
    board: str
    panel: str
    target: dict[str, Any]

    @property
    def kind(self) -> str:
        return str(self.target["datasource"]["type"])

    @property
    def name(self) -> str:
        return f"{self.board}: {self.panel} {self.target['refId']}"


def boards() -> dict[str, dict[str, Any]]:
    """Return the boards by the name of their file."""
    folder = SHIPPED / BOARDS
    return {file.name: json.loads(file.read_text("utf-8")) for file in sorted(folder.iterdir(), key=str)}


def targets(kind: str) -> list[ShippedTarget]:
    return [target for target in _targets() if target.kind == kind]


def _targets() -> Iterator[ShippedTarget]:
    for name, board in boards().items():
        for panel in board["panels"]:
            yield from (ShippedTarget(name, panel["title"], target) for target in panel["targets"])


def variables(board: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {variable["name"]: variable for variable in board["templating"]["list"]}
