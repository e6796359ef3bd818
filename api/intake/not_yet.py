"""What Labledger adds to the job language and does not do yet: a row each, to be struck out when it does."""

from __future__ import annotations

from typing import Final

# Element in the namespace of our own -> field of the JSON form. They are refused wherever they stand.
NOT_YET: Final = {
    "locks": "locks",
    "depends-on": "depends_on",
    "reason": "reason",
    "preemptible": "preemptible",
    "queue": "queue",
}
