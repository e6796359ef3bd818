"""Directories filled with documents, as a PUT of each would do."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from domain.directory.changes import put
from domain.directory.state import Directory
from domain.events import Event, Recorded, Stamp, split_subject

NOW = datetime(2024, 1, 1, tzinfo=UTC)

TREE: dict[str, Any] = {
    "name": "Fedora-40",
    "family": "Fedora",
    "version": "40",
    "arch": "x86_64",
    "variant": "Server",
    "tags": ["STABLE"],
    "urls": {"lab-1": ["http://lab-1/f40"]},
    "added_at": "2024-01-01T00:00:00Z",
}


def apply(
    directory: Directory,
    subject: str,
    event: Event,
    version: int = 1,
    *,
    position: int = 1,
    at: datetime = NOW,
) -> None:
    stamp = Stamp(at, "ada", "request/1")
    directory.apply(Recorded(position, position, at, subject, version, event, stamp))


def put_document(directory: Directory, subject: str, document: Mapping[str, Any]) -> Event | None:
    """Return the last event of a PUT, which the directory has applied; None if nothing changed."""
    kind, name = split_subject(subject)
    before = directory.get(kind, name)
    events = put(kind, before, document)
    for event in events:
        apply(directory, subject, event, directory.version(subject) + 1)
    return events[-1] if events else None


def directory_with(*documents: tuple[str, Mapping[str, Any]]) -> Directory:
    directory = Directory()
    for subject, document in documents:
        put_document(directory, subject, document)
    return directory
