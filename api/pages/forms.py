"""Forms of pages: their fields, the proof that they are ours, and the request to write."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import replace
from io import BytesIO
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qs

import falcon
from falcon.asgi import Request
from falcon.media import MultipartFormHandler

from api.rest.body import media_type, read_body
from api.rest.context import operation_of_request, request_of
from api.rest.contract.parameters import MAX_KEY_LENGTH
from api.rest.contract.query_values import MAX_POSITION, whole_number
from api.rest.session_cookie import FORM_FIELD, is_from_form, is_same_origin
from api.use_cases.ports import RequestContext
from domain.errors import Fault, FaultyInput, NotPermitted

FORM: Final = "application/x-www-form-urlencoded"
# The media type of a form with files.
FORM_WITH_FILES: Final = "multipart/form-data"
# The fields of every form that changes something: its idempotency key, and the version it was made from.
KEY: Final = "key"
VERSION: Final = "form_version"
_MAX_FIELDS: Final = 1_000
# Fields and buttons that the user does not write; files, which may have secrets; words in names of secrets.
_NOT_WRITTEN: Final = (FORM_FIELD, KEY, VERSION, "origin", "username", "check", "send", "file", "files")
SECRETS: Final = ("password", "secret")


class FormPart(NamedTuple):
    """A field of a form or, with a `file_name`, a file."""

    name: str
    text: str
    file_name: str | None = None


async def read_form(req: Request) -> dict[str, str]:
    """Return the fields and files of a form as texts. Raises as `read_form_parts`."""
    return {part.name: part.text for part in await read_form_parts(req)}


async def read_form_parts(req: Request) -> list[FormPart]:
    """Return the fields and files of a form, with lines that end as the server writes them.

    Raises 413, 415, and FaultyInput for a body that is no form.
    """
    takes = operation_of_request(req).takes
    if media_type(req) not in takes:
        raise falcon.HTTPUnsupportedMediaType(description=f"the body must be {' or '.join(takes)}")
    body = await read_body(req)
    try:
        found = _files_and_fields(req, body) if media_type(req) == FORM_WITH_FILES else _fields(body)
    except (ValueError, falcon.MediaMalformedError, falcon.HTTPError) as error:
        raise FaultyInput([Fault("body", "is not a form in UTF-8")]) from error
    # Browsers end lines with CRLF; written back, a carriage return would be an escape.
    return [part._replace(text=part.text.replace("\r\n", "\n")) for part in found]


def _fields(body: bytes) -> list[FormPart]:
    fields = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=_MAX_FIELDS)
    return [FormPart(name, values[-1]) for name, values in fields.items()]


def _files_and_fields(req: Request, body: bytes) -> list[FormPart]:
    parts: Any = MultipartFormHandler().deserialize(BytesIO(body), req.content_type, len(body))
    return [FormPart(part.name or "", part.stream.read().decode(), part.filename) for part in parts]


class ForeignForm(NotPermitted):
    """Form of another login or page."""

    def __init__(self, sent: Mapping[str, str]) -> None:
        self.sent = sent
        super().__init__("this form is not from a page of this service and this login, so nothing was stored")


def require_own_form(req: Request, form: Mapping[str, str], *, is_login: bool = False) -> None:
    """Raise ForeignForm unless the form is from a page of this service, for this login."""
    if not is_same_origin(req) or not is_from_form(req, form.get(FORM_FIELD), is_login=is_login):
        raise ForeignForm({} if is_login else shown_fields(req, form))


def shown_fields(req: Request, form: Mapping[str, str]) -> dict[str, str]:
    """Return what the user wrote into a form, without secrets; nothing of a form of another origin."""
    if not is_same_origin(req):
        return {}
    return {
        name: value
        for name, value in form.items()
        if value and name not in _NOT_WRITTEN and not any(word in name for word in SECRETS)
    }


def new_key() -> str:
    """Return the idempotency key of a new form: the form takes effect once, however often it is sent."""
    return secrets.token_urlsafe(24)


def form_request(req: Request, form: Mapping[str, str]) -> RequestContext:
    """Return the context of the change that a form asks for, with its key and version.

    Raises FaultyInput if one is missing or malformed.
    """
    key, version = form.get(KEY, ""), whole_number(form.get(VERSION, ""))
    faults = []
    if not 1 <= len(key) <= MAX_KEY_LENGTH:
        faults.append(Fault(KEY, f"must have 1 to {MAX_KEY_LENGTH} characters"))
    if version is None or version > MAX_POSITION:
        faults.append(Fault(VERSION, "must be a version of the subject of the page"))
    if faults or version is None:
        raise FaultyInput(faults)
    request = request_of(req)
    return replace(
        request,
        command_id=f"form/{_digest(request.actor, key).hex()}",
        digest=_digest(req.path, *(f"{name}={form[name]}" for name in sorted(form) if name != FORM_FIELD)),
        expected=frozenset((version,)),
    )


def _digest(*texts: str) -> bytes:
    return hashlib.sha256("\0".join(texts).encode()).digest()
