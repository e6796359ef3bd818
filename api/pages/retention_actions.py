"""The actions that keep the results and logs of a job, whatever its retention tag says."""

from __future__ import annotations

from typing import Final

from api.pages.actions import REASON, Action
from api.pages.form_fields import Fields
from api.rest.ports import PageParts
from api.use_cases.ports import RequestContext
from api.use_cases.retention import keep_job
from api.use_cases.rights import own_job
from domain.job.retention import KeepChange
from store.requests import Committed


async def _keep(parts: PageParts, request: RequestContext, job_id: int, fields: Fields) -> Committed | None:
    return await keep_job(parts, request, job_id, KeepChange(True, fields["reason"]))


async def _end_keep(
    parts: PageParts, request: RequestContext, job_id: int, fields: Fields
) -> Committed | None:
    return await keep_job(parts, request, job_id, KeepChange(False, fields["reason"]))


RETENTION_ACTIONS: Final = (
    Action(
        name="keep",
        label="Keep the results",
        effect="Results and logs of the job are kept, whatever its retention tag says.",
        is_possible=lambda job: job["kept"] is None and job["results_deleted"] is None,
        require_may=own_job,
        perform=_keep,
        fields=(REASON,),
    ),
    Action(
        name="end-keep",
        label="Do not keep the results",
        effect="The retention tag of the job applies again, and may delete its results and logs at once.",
        is_possible=lambda job: job["kept"] is not None,
        require_may=own_job,
        perform=_end_keep,
        fields=(REASON,),
    ),
)
