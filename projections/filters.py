"""Filters of lists, and the fastest query for a combination of filters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from domain.recipe.lifecycle import FINISHED

SYSTEM_FILTERS = ("condition", "usage", "lab_controller", "pool", "owner")
JOB_FILTERS = ("owner", "group", "state")
# Parameters without any filter.
ANY_SYSTEM: Mapping[str, Any] = dict.fromkeys((*SYSTEM_FILTERS, "fqdn", "hidden"))
ANY_JOB: Mapping[str, Any] = dict.fromkeys(JOB_FILTERS)


def job_ids_query(asked: Mapping[str, Any]) -> str:
    """Return the query to use: unfinished jobs are few in any long log, finished ones are nearly all jobs."""
    state, owner, group = (asked[name] for name in ("state", "owner", "group"))
    if state is not None and (state not in FINISHED or (owner is None and group is None)):
        return "job_ids_in_state"
    if owner is not None:
        return "job_ids_of_owner"
    return "job_ids" if group is None else "job_ids_of_group"
