"""What a token lets its bearer do at all; which path takes which role stands in the table of routes."""

from __future__ import annotations

from typing import Final

ROLES = ADMIN, SUBMITTER, LAB_CONTROLLER, AUDITOR, METRICS = (
    "admin",
    "submitter",
    "lab-controller",
    "auditor",
    "metrics",
)

# Roles that see every system, every token, and how much each user wrote to the log.
SEES_ALL: Final = frozenset((ADMIN, AUDITOR))

# Of these only an admin makes tokens: with any other token one could otherwise rise to them.
GIVEN_BY_ADMINS: Final = (ADMIN, LAB_CONTROLLER)
