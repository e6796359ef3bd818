"""The members of a list of jobs in JSON, each with its own bytes, for submissions one by one."""

from __future__ import annotations

import json
import re
from typing import Final

from api.intake.bodies import body_of
from api.intake.limits import MAX_JOBS, check_body
from domain.errors import Fault, TooLarge, Unreadable

JSON: Final = "application/json"

_BEGINNING: Final = re.compile(r'\s*\{\s*"jobs"\s*:\s*\[\s*')
_BETWEEN: Final = re.compile(r"\s*([,\]])\s*")
_END: Final = re.compile(r"\s*\}\s*")
_DECODER: Final = json.JSONDecoder()


def members_of(body: bytes) -> list[bytes] | None:
    """Return the bytes of each member of `{"jobs": [...]}`; None for any other body, valid or not.

    Raises Unreadable as `check_body` does, and TooLarge for more members than one request may have.
    """
    text = check_body(body)
    begun = _BEGINNING.match(text)
    if begun is None:
        return None
    members: list[bytes] = []
    index, found = begun.end(), begun
    while found[0].strip() != "]":
        try:
            _, end = _DECODER.raw_decode(text, index)
        except (ValueError, RecursionError):
            return None
        members.append(text[index:end].encode())
        between = _BETWEEN.match(text, end)
        if between is None:
            return None
        found, index = between, between.end()
    if _END.fullmatch(text, index) is None:
        return None
    if len(members) > MAX_JOBS:
        raise TooLarge([Fault("jobs", f"must not have more than {MAX_JOBS} members")])
    return members


def content_of(member: bytes) -> tuple[bytes, str]:
    """Return the bytes of a job and their media type: an object, or the text in a JSON string.

    Raises Unreadable for a string that is none, or whose text is neither XML nor JSON.
    """
    if not member.lstrip().startswith(b'"'):
        return member, JSON
    try:
        text = json.loads(member)
    except ValueError as error:
        raise Unreadable([Fault("text", f"is not a string in JSON: {error}")]) from None
    return body_of(text, "text")
