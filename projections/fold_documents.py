"""Folds of documents: users, groups, pools, lab controllers, distro trees and tokens."""

from __future__ import annotations

from domain.directory.state import document_after
from domain.events import Event, Recorded, split_subject
from projections.intervals import Instant
from projections.read_models import ReadModels
from projections.rows import DocumentRow


def put_document(models: ReadModels, recorded: Recorded, event: Event, now: Instant) -> None:
    key = split_subject(recorded.subject)
    before = models.documents.get(key)
    document = document_after(before.document if before else {}, event)
    models.documents.put(key, DocumentRow(recorded.version, document), now)


def remove_document(models: ReadModels, recorded: Recorded, _: Event, now: Instant) -> None:
    """End the document's interval; queries of the past still find it."""
    models.documents.end(split_subject(recorded.subject), now)
