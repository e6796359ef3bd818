"""The intake of jobs: XML or JSON in, a `JobSpec` or all its faults out. `PARSERS` has the media types."""

from __future__ import annotations

from api.intake.read import PARSERS, ReadJob, read_job

__all__ = ["PARSERS", "ReadJob", "read_job"]
