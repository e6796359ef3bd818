"""Answers about the service itself."""

from __future__ import annotations

from typing import Any

from api.rest.contract.answers.common import Shape


class Alive(Shape):
    alive: bool


class Ready(Shape):
    ready: bool
    checks: dict[str, Any]
