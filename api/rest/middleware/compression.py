"""Compression of answers (gzip) for clients that accept it, if it saves bytes."""

from __future__ import annotations

import asyncio
import gzip
from typing import Any

from falcon.asgi import Request, Response

MIN_BYTES = 1_024
# Longer answers are compressed in a thread, because they would block the event loop for milliseconds.
LONG_BYTES = 65_536
LEVEL = 5


class Compression:
    """Falcon middleware that compresses answers."""

    async def process_response(
        self, req: Request, resp: Response, resource: Any, req_succeeded: bool
    ) -> None:
        data = resp.data
        if data is None or len(data) < MIN_BYTES:
            return
        resp.append_header("Vary", "Accept-Encoding")
        if not _accepts_gzip(req.get_header("Accept-Encoding") or ""):
            return
        resp.data = await asyncio.to_thread(_compress, data) if len(data) > LONG_BYTES else _compress(data)
        resp.set_header("Content-Encoding", "gzip")


def _compress(data: bytes) -> bytes:
    # Without a timestamp, so that equal answers have equal bytes.
    return gzip.compress(data, LEVEL, mtime=0)


def _accepts_gzip(header: str) -> bool:
    for part in header.split(","):
        coding, _, parameters = part.strip().lower().partition(";")
        if coding.strip() in ("gzip", "*"):
            return parameters.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
