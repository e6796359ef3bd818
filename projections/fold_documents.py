"""Named things by version, and how far lab controllers are with their commands."""

from __future__ import annotations

from typing import Any

from domain.directory.state import document_after
from domain.events import Event, Recorded, split_subject
from projections.intervals import Now
from projections.read_models import ReadModels, number_of


def document(models: ReadModels, recorded: Recorded, event: Event, now: Now) -> None:
    kind, name = split_subject(recorded.subject)
    before = models.documents.get((kind, name))
    document = document_after(before[1] if before else {}, event)
    models.documents.put((kind, name), (recorded.version, document), now)


def command_state(models: ReadModels, recorded: Recorded, event: Any, now: Now) -> None:
    row = models.commands.get((number_of(recorded),))
    assert row is not None, f"{recorded.subject} is unknown"
    reason = getattr(event, "reason", None)
    models.commands.put((number_of(recorded),), (*row[:4], event.STATE, reason), now)
