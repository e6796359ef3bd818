"""Submit entries of access policies, in the form of events."""

from __future__ import annotations

from domain.access.policy import Form


def everybody(maximum: str = "Urgent") -> Form:
    return {"permission": "submit", "everybody": True, "maximum_effective_priority": maximum}


def group(name: str, maximum: str = "Urgent") -> Form:
    return {"permission": "submit", "group": name, "maximum_effective_priority": maximum}


def user(name: str, maximum: str = "Urgent") -> Form:
    return {"permission": "submit", "user": name, "maximum_effective_priority": maximum}
