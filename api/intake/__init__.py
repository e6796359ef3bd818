"""Parsing and validation of jobs in XML or JSON, with all faults at once. `PARSERS` has the media types."""

from __future__ import annotations

from api.intake.read import PARSERS, ReadJob, read_job

__all__ = ["PARSERS", "ReadJob", "read_job"]
