"""HTTP requests to the identity provider, bounded in time, size and number."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from pathlib import Path
from typing import Any, Final

import httpx

from api.oidc.errors import ProviderAway, does_not_answer
from runtime.tls import tls_context

ANSWER_SECONDS: Final = 10.0
MAX_ANSWER_BYTES: Final = 1 << 20
MAX_CONNECTIONS: Final = 20
# While all connections are in use.
QUEUE_SECONDS: Final = 2.0

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class ProviderAnswer:
    """The status and the JSON object of an answer."""

    status: int
    body: Mapping[str, Any]

    @property
    def is_error(self) -> bool:
        return self.status >= 400


class ProviderTransport:
    """Requests without redirects. Each raises ProviderAway unless an answer with a JSON object comes in time.

    Answers with a status of 500 or more are failures, too. The log has what happened; users do not see it.
    """

    def __init__(self, answer_seconds: float = ANSWER_SECONDS, ca_file: Path | None = None) -> None:
        self.answer_seconds = answer_seconds
        self._http = httpx.AsyncClient(
            verify=tls_context(ca_file),
            timeout=httpx.Timeout(answer_seconds, pool=QUEUE_SECONDS),
            limits=httpx.Limits(max_connections=MAX_CONNECTIONS),
            headers={"Accept": "application/json"},
            # All people share the client, so nothing of one sign-in must reach another one.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        )

    async def close(self) -> None:
        await self._http.aclose()

    async def get(self, url: str, **request: Any) -> ProviderAnswer:
        return await self._call("GET", url, request)

    async def post(self, url: str, **request: Any) -> ProviderAnswer:
        return await self._call("POST", url, request)

    async def _call(self, method: str, url: str, request: Mapping[str, Any]) -> ProviderAnswer:
        try:
            # The limits of httpx are for each read; this one is for all of them.
            async with (
                asyncio.timeout(self.answer_seconds),
                self._http.stream(method, url, **request) as found,
            ):
                content = await _read(found)
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
            logger.warning("identity provider: %s %s: %s", method, url, str(error) or type(error).__name__)
            raise does_not_answer() from None
        return _answer(method, url, found.status_code, content)


async def _read(found: httpx.Response) -> bytes:
    """Return the body. Raises HTTPError if it is too long."""
    content = bytearray()
    async for part in found.aiter_bytes():
        content += part
        if len(content) > MAX_ANSWER_BYTES:
            raise httpx.DecodingError(f"more than {MAX_ANSWER_BYTES} bytes")
    return bytes(content)


def _answer(method: str, url: str, status: int, content: bytes) -> ProviderAnswer:
    try:
        body = json.loads(content)
    # The latter for JSON that is nested too deeply.
    except (ValueError, RecursionError):
        body = None
    if status >= 500 or not isinstance(body, dict):
        reason = f"status {status}" if status >= 400 else "no JSON object"
        logger.warning("identity provider: %s %s: %s", method, url, reason)
        raise ProviderAway("the identity provider answers with an error; try again later")
    return ProviderAnswer(status, body)
