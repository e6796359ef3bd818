"""Text of files of the command line, which must be UTF-8."""

from __future__ import annotations

from typing import IO

from domain.errors import Fault, Unreadable


def content_of(file: IO[bytes]) -> bytes:
    """Return the content of a file. Raise Unreadable if it is not UTF-8."""
    content = file.read()
    try:
        content.decode()
    except UnicodeDecodeError as error:
        # Standard input may have no name.
        name = str(getattr(file, "name", "<stdin>"))
        raise Unreadable([Fault(name, f"is not UTF-8 at byte {error.start}")]) from None
    return content


def text_of(file: IO[bytes]) -> str:
    """Return the text of a file, without a byte order mark. Raise Unreadable if it is not UTF-8."""
    return content_of(file).decode("utf-8-sig")
