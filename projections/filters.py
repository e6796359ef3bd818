"""Filters of lists, and the fastest query of jobs for a combination of filters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from domain.recipe.lifecycle import FINISHED

SYSTEM_FILTERS = ("condition", "usage", "lab_controller", "pool", "owner")
JOB_FILTERS = ("owner", "group", "state")
# Parameters without any filter.
ANY_SYSTEM: Mapping[str, Any] = dict.fromkeys((*SYSTEM_FILTERS, "fqdn", "hidden"))
ANY_JOB: Mapping[str, Any] = dict.fromkeys(JOB_FILTERS)


def job_ids_query(filters: Mapping[str, Any]) -> str:
    """Return the name of the fastest query. In a long log nearly all jobs are finished."""
    state, owner, group = (filters[name] for name in ("state", "owner", "group"))
    if state is not None and (state not in FINISHED or (owner is None and group is None)):
        return "job_ids_in_state"
    if owner is not None:
        return "job_ids_of_owner"
    return "job_ids" if group is None else "job_ids_of_group"
