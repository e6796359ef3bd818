"""The five boards as JSON, as `python -m projections.boards` writes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard

from projections.boards.machines import machines
from projections.boards.provisioning import provisioning
from projections.boards.queue_board import queue
from projections.boards.scheduler import scheduler
from projections.boards.wall import wall

GENERATED: Final[Mapping[str, Callable[[], Dashboard]]] = {
    "wall": wall,
    "queue": queue,
    "machines": machines,
    "provisioning": provisioning,
    "scheduler": scheduler,
}


def texts() -> dict[str, str]:
    """Return the JSON of each board by the name of its file."""
    encoder = JSONEncoder(sort_keys=True, indent=2)
    return {f"{name}.json": f"{encoder.encode(make())}\n" for name, make in GENERATED.items()}
