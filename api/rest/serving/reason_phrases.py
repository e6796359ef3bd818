"""Reason phrases for the statuses that gunicorn calls "Unknown"."""

from __future__ import annotations

from http import HTTPStatus

from gunicorn.asgi import protocol  # type: ignore[import-untyped]


def know_all() -> None:
    for status in HTTPStatus:
        protocol._REASON_PHRASES.setdefault(status.value, status.phrase)
