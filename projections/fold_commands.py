"""Folds of the commands to lab controllers."""

from __future__ import annotations

from typing import Any

from domain.events import Recorded
from domain.lab_commands.derive import Command
from projections.intervals import Instant
from projections.read_models import ReadModels, number_of
from projections.rows import CommandRow


def put_command(models: ReadModels, recorded: Recorded, command: Command | None, now: Instant) -> None:
    if command is None:
        return
    row = CommandRow(
        lab_controller=command.lab_controller,
        kind=command.kind,
        system=command.system,
        recipe_id=command.recipe_id,
        distro_tree_id=command.distro_tree_id,
        state="queued",
        reason=None,
        cause_reason=command.reason,
        attempt=command.attempt,
        job_id=command.job_id,
    )
    models.commands.put((recorded.position,), row, now)


def put_command_state(models: ReadModels, recorded: Recorded, event: Any, now: Instant) -> None:
    key = (number_of(recorded),)
    row = models.commands.of(key)
    models.commands.put(key, row._replace(state=event.STATE, reason=getattr(event, "reason", None)), now)
