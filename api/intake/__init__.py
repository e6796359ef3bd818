"""The intake of jobs: XML or JSON in, a `JobSpec` or all its faults out."""

from __future__ import annotations

from api.intake.read import read_job

__all__ = ["read_job"]
