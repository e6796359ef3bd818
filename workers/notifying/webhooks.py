"""Webhooks: a POST of CloudEvents JSON, signed with the secret of the webhook. Blocking."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import socket
import ssl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from runtime.tls import tls_context
from workers.notifying.delivery_outcome import SUCCESS, DeliveryOutcome
from workers.notifying.time_limit import time_limit
from workers.notifying.webhook_addresses import ForbiddenAddress, Network, permitted_address

# Each wait for the server, and the whole exchange, are at most this long.
TIMEOUT_SECONDS: Final = 10.0
TOTAL_SECONDS: Final = 20.0
# Of the answer, no more is read.
MAX_ANSWER_BYTES: Final = 16_384
CONTENT_TYPE: Final = "application/cloudevents+json; charset=utf-8"
SIGNATURE: Final = "Labledger-Signature"
GONE: Final = 410
# Servers that answer so are overloaded or not there: other messages to them wait, too.
HOST_FAILURES: Final = frozenset((429, 502, 503, 504))


@dataclass(frozen=True)
class Post:
    """A message to a webhook. `is_admin`: its owner may use any address."""

    message_id: str
    url: str
    secret: str
    body: bytes
    is_admin: bool


def signature(secret: str, body: bytes) -> str:
    """Return the value of the header `Labledger-Signature`."""
    return f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"


class WebhookSender:
    """A sender of posts. `allowed` are networks besides public ones, `ca_file` has further authorities."""

    def __init__(self, allowed: Sequence[Network], ca_file: Path | None = None) -> None:
        self._allowed = allowed
        self._ca_file = ca_file

    def send(self, posts: Sequence[Post]) -> Iterator[DeliveryOutcome]:
        """Yield the outcome of each post to one host. After a failure of the server, the rest is not tried.

        Nor is its name looked up again for people who may not use its address, because that may take long.
        """
        forbidden: DeliveryOutcome | None = None
        for post in posts:
            if forbidden is not None and not post.is_admin:
                yield forbidden
                continue
            try:
                outcome = self._send(post)
            except ForbiddenAddress as error:
                outcome = forbidden = DeliveryOutcome(str(error))
            yield outcome
            if outcome.is_server_failure:
                return

    def _send(self, post: Post) -> DeliveryOutcome:
        """Send a post. Raises ForbiddenAddress."""
        url = urlsplit(post.url)
        try:
            status = self._post(url, post)
        except (OSError, http.client.HTTPException) as error:
            # A refused certificate, too, although it is also a ValueError: the next one may be valid.
            return DeliveryOutcome(str(error) or type(error).__name__, is_server_failure=True)
        except ValueError as error:
            # A name or URL that cannot be sent.
            return DeliveryOutcome(str(error), is_final=True)
        if 200 <= status < 300:
            return SUCCESS
        # A redirect is not followed: it could lead to an address that is not permitted.
        reason = "a redirect, which is not followed" if 300 <= status < 400 else "refused"
        return DeliveryOutcome(
            f"{status}: {reason}", is_final=status == GONE, is_server_failure=status in HOST_FAILURES
        )

    def _post(self, url: SplitResult, post: Post) -> int:
        """Return the status of the answer."""
        host, port = url.hostname or "", url.port or (443 if url.scheme == "https" else 80)
        address = permitted_address(host, port, self._allowed, is_admin=post.is_admin)
        path = (url.path or "/") + (f"?{url.query}" if url.query else "")
        headers = {
            "Content-Type": CONTENT_TYPE,
            "User-Agent": "labledger",
            "Labledger-Message-Id": post.message_id,
            SIGNATURE: signature(post.secret, post.body),
        }
        tls = tls_context(self._ca_file) if url.scheme == "https" else None
        with _connected(tls, host, port, address) as connection:
            connection.request("POST", path, post.body, headers)
            answer = connection.getresponse()
            answer.read(MAX_ANSWER_BYTES)
            return answer.status


@contextmanager
def _connected(
    tls: ssl.SSLContext | None, host: str, port: int, address: str
) -> Iterator[http.client.HTTPConnection]:
    """Connect to this address of the host without another look-up of its name, which TLS sends and checks."""
    sessions: list[Any] = [socket.create_connection((address, port), TIMEOUT_SECONDS)]
    connection = http.client.HTTPConnection(host, port)
    try:
        with time_limit(TOTAL_SECONDS, lambda: sessions[-1]):
            if tls is not None:
                connection.default_port = 443
                sessions.append(
                    tls.wrap_socket(sessions[0], server_hostname=host, do_handshake_on_connect=False)
                )
                sessions[-1].do_handshake()
            connection.sock = sessions[-1]
            yield connection
    finally:
        connection.close()
        sessions[-1].close()
