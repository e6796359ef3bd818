"""The intake of jobs: XML or JSON in, a `JobSpec` or all its faults out; `DOORS` are the media types."""

from __future__ import annotations

from api.intake.read import DOORS, ReadJob, read_job

__all__ = ["DOORS", "ReadJob", "read_job"]
