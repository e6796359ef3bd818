"""Folds of notes on systems: the interval from the addition of a note to its removal."""

from __future__ import annotations

from domain.events import Recorded, split_subject
from domain.system.events import SystemNoteAdded, SystemNoteRemoved
from projections.fold_systems import put_system
from projections.intervals import Instant
from projections.read_models import ReadModels
from projections.rows import NoteRow


def note_added(models: ReadModels, recorded: Recorded, event: SystemNoteAdded, now: Instant) -> None:
    put_system(models, recorded, event, now)
    fqdn = split_subject(recorded.subject)[1]
    models.notes.put((recorded.position,), NoteRow(fqdn, event.text, recorded.stamp.actor), now)


def note_removed(models: ReadModels, recorded: Recorded, event: SystemNoteRemoved, now: Instant) -> None:
    put_system(models, recorded, event, now)
    models.notes.end((event.note,), now)
