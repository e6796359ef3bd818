"""The roles of tokens. The table of routes in the API says which roles each operation accepts."""

from __future__ import annotations

from typing import Final

ROLES = ADMIN, SUBMITTER, LAB_CONTROLLER, AUDITOR, METRICS = (
    "admin",
    "submitter",
    "lab-controller",
    "auditor",
    "metrics",
)

# Roles that may read every system, every token, and the log usage of every user.
SEES_ALL: Final = frozenset((ADMIN, AUDITOR))

# Roles of tokens that only an admin may create.
GIVEN_BY_ADMINS: Final = (ADMIN, LAB_CONTROLLER)
