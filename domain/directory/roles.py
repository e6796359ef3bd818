"""What a token lets its bearer do at all; which path takes which role stands in the table of routes."""

from __future__ import annotations

ROLES = ADMIN, SUBMITTER, LAB_CONTROLLER, AUDITOR, METRICS = (
    "admin",
    "submitter",
    "lab-controller",
    "auditor",
    "metrics",
)
