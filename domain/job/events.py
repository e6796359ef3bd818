"""What happens to jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from domain.events import Event, event


@event("job.submitted", version=2)
class JobSubmitted(Event):
    """`document` is the job in its normalised JSON form; nothing of it is left out.

    `original_sha256` (hexadecimal) and `original_type`, a media type, are those of the submitted bytes.
    """

    owner: str
    submitter: str
    group: str | None
    whiteboard: str
    recipe_set_ids: Sequence[int]
    document: Mapping[str, Any]
    original_sha256: str | None = None
    original_type: str | None = None

    @classmethod
    def upcast(cls, data: dict[str, Any], version: int) -> dict[str, Any]:
        # The bytes of jobs were not kept with version 1.
        return data if version == 1 else super().upcast(data, version)


@event("job.changed")
class JobChanged(Event):
    """All that people may change of a job afterwards, as it is from now on."""

    whiteboard: str
    retention_tag: str
    product: str | None
