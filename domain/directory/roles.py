"""The roles of tokens. The table of routes has the roles for each operation."""

from __future__ import annotations

from typing import Final

ROLES = ADMIN, SUBMITTER, LAB_CONTROLLER, AUDITOR, METRICS = (
    "admin",
    "submitter",
    "lab-controller",
    "auditor",
    "metrics",
)

# Roles that see every system, every token, and the log usage of every user.
SEES_ALL: Final = frozenset((ADMIN, AUDITOR))

# Only an admin creates tokens of these roles: otherwise a user with another role could gain them.
GIVEN_BY_ADMINS: Final = (ADMIN, LAB_CONTROLLER)
