"""The deletion of the results of jobs by their retention tags, which a serving process repeats."""

from __future__ import annotations

import logging
from typing import Final

from api.use_cases.ports import LabParts
from api.use_cases.retention import delete_due_results, end_orphaned_deletions
from domain.job.retention_tags import RetentionTags

INTERVAL_SECONDS: Final = 600.0

logger = logging.getLogger(__name__)


async def delete_results(parts: LabParts, tags: RetentionTags) -> None:
    """Delete the results that are due. Several processes may: the version of a job orders its deletions."""
    if tags.with_days and (count := await delete_due_results(parts, tags.with_days)):
        logger.info("retention: deleted the results of %d jobs", count)
    # Also without days: a lab controller may have been removed since.
    if count := await end_orphaned_deletions(parts):
        logger.warning(
            "retention: the logs of %d jobs stay, because their lab controllers were removed", count
        )
