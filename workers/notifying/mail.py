"""Mails by SMTP: one connection for a batch of messages. Blocking."""

from __future__ import annotations

import smtplib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from email.utils import format_datetime, parseaddr
from pathlib import Path
from typing import Any, Final
from urllib.parse import SplitResult, unquote, urlsplit

from domain.characters import escaped
from runtime.tls import tls_context
from workers.notifying.delivery_outcome import SUCCESS, DeliveryOutcome
from workers.notifying.time_limit import time_limit

# The connection, the login and each mail take at most this long.
TIMEOUT_SECONDS: Final = 20.0
STARTTLS, TLS, PLAIN = "smtp", "smtps", "smtp-plain"
PORTS: Final = {STARTTLS: 587, TLS: 465, PLAIN: 25}
# Codes from here on say that a repetition cannot help (RFC 5321, 4.2.1).
FIRST_FINAL_CODE: Final = 500
MAX_SUBJECT_LENGTH: Final = 200
TOO_SLOW: Final = DeliveryOutcome("mail server: no answer to this mail in time")


@dataclass(frozen=True)
class Mail:
    """A mail; `message_id` is the same at each attempt."""

    message_id: str
    recipient: str
    subject: str
    text: str
    created_at: datetime


class Mailer:
    """A sender of mails to the server of a URL: smtp (STARTTLS), smtps (TLS) or smtp-plain.

    `ca_file` has further authorities.
    """

    def __init__(self, url: str, sender: str, ca_file: Path | None = None) -> None:
        self._ca_file = ca_file
        self._url = urlsplit(url)
        self._sender = sender

    def send(self, mails: Sequence[Mail]) -> Iterator[DeliveryOutcome]:
        """Yield the outcome of each mail. After a failure of the server, the rest is not tried.

        Neither is it after a mail that hangs: that one alone has to wait, as its recipient may be the cause.
        """
        try:
            with _session(self._url, self._ca_file) as session:
                for mail in mails:
                    outcome, has_ended = self._send_in_time(session, mail)
                    yield outcome
                    if has_ended:
                        return
        except (OSError, smtplib.SMTPException, ValueError) as error:
            # smtplib raises ValueError for a password or a host name that it cannot encode.
            yield DeliveryOutcome(f"mail server: {_text(error)}", is_server_failure=True)

    def _send_in_time(self, session: smtplib.SMTP, mail: Mail) -> tuple[DeliveryOutcome, bool]:
        """Return the outcome, and whether the session ended with the time limit."""
        with time_limit(TIMEOUT_SECONDS, lambda: session.sock) as limit:
            try:
                outcome = self._send(session, mail)
            except (OSError, smtplib.SMTPException):
                if not limit.is_over:
                    raise
                return TOO_SLOW, True
        # The end of the session may look like an answer of the server.
        return (TOO_SLOW if limit.is_over and outcome != SUCCESS else outcome), limit.is_over

    def _send(self, session: smtplib.SMTP, mail: Mail) -> DeliveryOutcome:
        """Send one mail. Raises the errors of the server as a whole."""
        try:
            session.send_message(self._message(mail), to_addrs=[mail.recipient])
        except smtplib.SMTPRecipientsRefused as refused:
            code, reply = next(iter(refused.recipients.values()))
            return DeliveryOutcome(f"{code} {_decoded(reply)}", is_final=code >= FIRST_FINAL_CODE)
        except (smtplib.SMTPDataError, smtplib.SMTPNotSupportedError, UnicodeError, ValueError) as error:
            code = getattr(error, "smtp_code", FIRST_FINAL_CODE)
            return DeliveryOutcome(_text(error), is_final=code >= FIRST_FINAL_CODE)
        return SUCCESS

    def _message(self, mail: Mail) -> EmailMessage:
        message = EmailMessage()
        domain = parseaddr(self._sender)[1].rpartition("@")[2]
        message["From"], message["To"], message["Subject"] = self._sender, mail.recipient, _subject(mail)
        message["Message-ID"] = f"<{mail.message_id}@{domain}>"
        message["Date"] = format_datetime(mail.created_at)
        # No automatic answers, such as those of absent people (RFC 3834).
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(mail.text)
        return message


def _subject(mail: Mail) -> str:
    """Return the subject on one line: reasons that people write may have many, which no header can have."""
    return escaped(" ".join(mail.subject.split()), MAX_SUBJECT_LENGTH)


class _Smtp(smtplib.SMTP):
    """A session whose greeting has a time limit, also if the server sends one line of it after the other."""

    def connect(
        self, host: str = "localhost", port: int = 0, source_address: Any = None
    ) -> tuple[int, bytes]:
        with time_limit(TIMEOUT_SECONDS, lambda: self.sock):
            return super().connect(host, port, source_address)


class _SmtpOverTls(_Smtp, smtplib.SMTP_SSL):
    pass


@contextmanager
def _session(url: SplitResult, ca_file: Path | None) -> Iterator[smtplib.SMTP]:
    host, port = url.hostname or "", url.port or PORTS[url.scheme]
    context = tls_context(ca_file)
    session: smtplib.SMTP
    if url.scheme == TLS:
        session = _SmtpOverTls(host, port, timeout=TIMEOUT_SECONDS, context=context)
    else:
        session = _Smtp(host, port, timeout=TIMEOUT_SECONDS)
    try:
        with time_limit(TIMEOUT_SECONDS, lambda: session.sock):
            if url.scheme == STARTTLS:
                session.starttls(context=context)
            session.ehlo_or_helo_if_needed()
            if url.username:
                session.login(unquote(url.username), unquote(url.password or ""))
        if session.sock is not None:
            # From here on, each mail has a time limit.
            session.sock.settimeout(None)
        yield session
    finally:
        with suppress(OSError, smtplib.SMTPException), time_limit(TIMEOUT_SECONDS, lambda: session.sock):
            session.quit()
        session.close()


def _text(error: Exception) -> str:
    if isinstance(error, smtplib.SMTPResponseException):
        return f"{error.smtp_code} {_decoded(error.smtp_error)}"
    return str(error) or type(error).__name__


def _decoded(reply: bytes | str) -> str:
    return reply.decode("utf-8", "replace") if isinstance(reply, bytes) else reply
