"""What happens to jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from domain.events import Event, event


@event("job.submitted")
class JobSubmitted(Event):
    """`document` is the job in its JSON form as it was accepted; nothing of it is left out."""

    owner: str
    submitter: str
    group: str | None
    whiteboard: str
    recipe_set_ids: Sequence[int]
    document: Mapping[str, Any]


@event("job.changed")
class JobChanged(Event):
    """All that people may change of a job afterwards, as it is from now on."""

    whiteboard: str
    retention_tag: str
    product: str | None
