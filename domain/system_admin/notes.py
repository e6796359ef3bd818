"""Notes of people on a system."""

from __future__ import annotations

from typing import Final

from domain.errors import Refused, Unknown, display_name
from domain.events import Decided
from domain.system.events import SystemNoteAdded, SystemNoteRemoved
from domain.system.state import System

# The maximum number of notes on one system: their ids are part of its state.
MAX_NOTES: Final = 1_000


def add_note(system: System, text: str) -> Decided:
    """Return the event of a new note. Raises Refused if the system has MAX_NOTES."""
    if len(system.notes) >= MAX_NOTES:
        raise Refused(f"system {system.fqdn} has {MAX_NOTES} notes; remove some first")
    return [(system.subject, SystemNoteAdded(text=text))]


def remove_note(system: System, note_id: int, reason: str | None) -> Decided:
    """Return the event that removes a note. Raises Unknown."""
    if note_id not in system.notes:
        raise Unknown(f"note {note_id} on {display_name('system', system.fqdn)}")
    return [(system.subject, SystemNoteRemoved(note=note_id, reason=reason))]
