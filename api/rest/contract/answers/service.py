"""Answers about the service itself."""

from __future__ import annotations

from typing import Any

from api.rest.contract.answers.common import AnswerPart


class Alive(AnswerPart):
    alive: bool


class Ready(AnswerPart):
    ready: bool
    checks: dict[str, Any]
