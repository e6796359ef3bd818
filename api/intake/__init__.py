"""Parsing and validation of jobs in XML or JSON, with all faults at once. `PARSERS` has the media types."""

from __future__ import annotations

from api.intake.bodies import PARSERS
from api.intake.read import (
    PartitionRules,
    ReadJob,
    ReadJobs,
    may_depend,
    mentioned_in,
    read_added_sets,
    read_job,
    read_jobs,
    with_lines,
)

__all__ = [
    "PARSERS",
    "PartitionRules",
    "ReadJob",
    "ReadJobs",
    "may_depend",
    "mentioned_in",
    "read_added_sets",
    "read_job",
    "read_jobs",
    "with_lines",
]
