"""Keys of jobs, which are unique per owner: a key is a subject of its own, so no two jobs can have it."""

from __future__ import annotations

from domain.events import subject

KIND = "job-key"


def key_subject(owner: str, key: str) -> str:
    """Return the subject of a key. Names of users contain no slash."""
    return subject(KIND, f"{owner}/{key}")
