"""A mail server with STARTTLS and authentication, and a server for webhooks, both on loopback."""

from __future__ import annotations

import asyncio
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event as Flag
from threading import Thread
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, Envelope

from runtime.embedded.ports import any_free

USER, PASSWORD = "labledger", "p@ss word"


@dataclass
class Mailbox:
    """The mails that arrived; `refuses` has recipients that do not exist, for `hangs` there is no answer."""

    mails: list[EmailMessage] = field(default_factory=list)
    refuses: set[str] = field(default_factory=set)
    hangs: set[str] = field(default_factory=set)
    hung: Flag = field(default_factory=Flag)

    async def handle_RCPT(  # noqa: N802  (named by aiosmtpd)
        self, server: Any, session: Any, envelope: Envelope, to: str, options: Any
    ) -> str:
        while to in self.hangs:
            self.hung.set()
            await asyncio.sleep(0.05)
        if to in self.refuses:
            return "550 no such person"
        envelope.rcpt_tos.append(to)
        return "250 ok"

    async def handle_DATA(  # noqa: N802  (named by aiosmtpd)
        self, server: Any, session: Any, envelope: Envelope
    ) -> str:
        found = message_from_bytes(envelope.content or b"", policy=policy.default)  # type: ignore[arg-type]
        assert isinstance(found, EmailMessage)
        self.mails.append(found)
        return "250 ok"

    @property
    def recipients(self) -> list[str]:
        return [str(mail["To"]) for mail in self.mails]


def certificate(folder: Path) -> Path:
    """Return the file of a certificate of localhost, with its key beside it."""
    made, key = folder / "cert.pem", folder / "key.pem"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
    ]
    command += ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(made)]
    subprocess.run(command, check=True, capture_output=True)
    return made


class Authority:
    """A certificate authority that nobody trusts yet; `file` has its certificate."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.file, self._key = folder / "ca.pem", folder / "ca.key"
        _openssl("req", "-x509", *_NEW_KEY, "-subj", "/CN=Test CA", "-keyout", self._key, "-out", self.file)

    def server(self, name: str) -> ssl.SSLContext:
        """Return the context of a server with a certificate for a name."""
        made, key = self._folder / f"{name}.pem", self._folder / f"{name}.key"
        signed = ("-CA", self.file, "-CAkey", self._key, "-addext", f"subjectAltName=DNS:{name}")
        _openssl("req", "-x509", *_NEW_KEY, "-subj", f"/CN={name}", *signed, "-keyout", key, "-out", made)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(made, key)
        return context


_NEW_KEY = ("-newkey", "rsa:2048", "-nodes", "-days", "2")


def _openssl(*arguments: object) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


@contextmanager
def mail_server(cert: Path, mailbox: Mailbox, port: int | None = None) -> Iterator[int]:
    """Run a mail server that demands STARTTLS and a login, and return its port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, cert.with_name("key.pem"))

    def authenticate(server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
        is_right = (data.login, data.password) == (USER.encode(), PASSWORD.encode())
        return AuthResult(success=is_right, handled=False)

    port = port or any_free("127.0.0.1")
    controller = Controller(
        mailbox,
        hostname="127.0.0.1",
        port=port,
        tls_context=context,
        require_starttls=True,
        auth_required=True,
        authenticator=authenticate,
    )
    controller.start()
    try:
        yield port
    finally:
        controller.stop()


@dataclass
class Hook:
    """The posts that arrived by path; `answers` returns the status and headers of an answer."""

    answers: Callable[[str], tuple[int, dict[str, str]]] = lambda path: (204, {})
    posts: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)

    def to(self, path: str) -> list[bytes]:
        return [body for each, _, body in self.posts if each == path]


@contextmanager
def hook_server(hook: Hook, tls: ssl.SSLContext | None = None) -> Iterator[int]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            hook.posts.append((self.path, dict(self.headers), body))
            status, headers = hook.answers(self.path)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, format: str, *values: Any) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if tls is not None:
        # The handshake is in the thread of the request, so that a refused one does not end the server.
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
