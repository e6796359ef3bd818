"""What lists are narrowed down by: which filters there are, and which query finds the rows soonest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from domain.recipe.lifecycle import FINISHED

SYSTEM_FILTERS = ("condition", "usage", "lab_controller", "pool", "owner")
JOB_FILTERS = ("owner", "group", "state")
# All of them, none asked for and none hidden.
ANY_SYSTEM: Mapping[str, Any] = dict.fromkeys((*SYSTEM_FILTERS, "fqdn", "hidden"))
ANY_JOB: Mapping[str, Any] = dict.fromkeys(JOB_FILTERS)


def job_ids_query(asked: Mapping[str, Any]) -> str:
    """What is unfinished is soon found, however much anybody has submitted; finished is nearly everything."""
    state, owner, group = (asked[name] for name in ("state", "owner", "group"))
    if state is not None and (state not in FINISHED or (owner is None and group is None)):
        return "job_ids_in_state"
    if owner is not None:
        return "job_ids_of_owner"
    return "job_ids" if group is None else "job_ids_of_group"
