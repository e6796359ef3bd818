"""Named things by version: users, groups, pools, lab controllers, distro trees and tokens."""

from __future__ import annotations

from domain.directory.state import document_after
from domain.events import Event, Recorded, split_subject
from projections.intervals import Now
from projections.read_models import ReadModels
from projections.rows import DocumentRow


def document(models: ReadModels, recorded: Recorded, event: Event, now: Now) -> None:
    key = split_subject(recorded.subject)
    before = models.documents.get(key)
    document = document_after(before.document if before else {}, event)
    models.documents.put(key, DocumentRow(recorded.version, document), now)


def document_removed(models: ReadModels, recorded: Recorded, _: Event, now: Now) -> None:
    """It is not there any more, but still was before."""
    models.documents.end(split_subject(recorded.subject), now)
