"""Names of HTTP headers and media types that several modules use, and of a member that replaces a header."""

from __future__ import annotations

from typing import Final

IDEMPOTENCY_KEY: Final = "Idempotency-Key"
PREFER: Final = "Prefer"
PREFERENCE_APPLIED: Final = "Preference-Applied"
LENIENT: Final = "handling=lenient"
"""The preference (RFC 7240) to process each valid item of a list, even if others are invalid."""
ACTS_AS: Final = "Labledger-Acts-As"
LAST_EVENT_ID: Final = "Last-Event-ID"
FORWARDED_FOR: Final = "X-Forwarded-For"
POSITION_HEADER: Final = "Labledger-Position"
UNBUFFERED: Final = ("X-Accel-Buffering", "no")
"""A header and its value, with which nginx passes on each part of an answer at once."""

RETRY_AFTER_SECONDS: Final = "retry_after_seconds"
"""The member of the problem of one of several items, instead of the header `Retry-After`."""

PROBLEM: Final = "application/problem+json"
NDJSON: Final = "application/x-ndjson"
CSV: Final = "text/csv"
EVENT_STREAM: Final = "text/event-stream"
