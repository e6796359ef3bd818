"""Additions to the job language that are not supported yet."""

from __future__ import annotations

from typing import Final

# Element in Labledger's namespace -> field of the JSON form. Both are refused.
NOT_YET: Final = {
    "locks": "locks",
    "depends-on": "depends_on",
    "reason": "reason",
    "preemptible": "preemptible",
    "queue": "queue",
}
