"""Types of the values of a job, which validate and normalise them."""

from __future__ import annotations

import shlex
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from api.intake import limits
from api.intake.words import number, one_line, printable
from api.intake.xml_record import foreign_text
from api.intake.xml_text import parse_xml
from api.intake.xml_walk import is_foreign
from domain.errors import Unreadable


def _options(text: str) -> str:
    """Return the options. Raises ValueError if they cannot be split like shell words."""
    if not text.isascii() or any(mark in text for mark in "'\"\\"):
        try:
            shlex.split(text)
        except ValueError as error:
            raise ValueError(f"cannot be split into words: {str(error).lower()}") from None
    return text


def none_if_absent(word: Any) -> Any:
    """Return None for the text `None` and for an empty text, which both mean an absent value in jobs."""
    return None if word in ("None", "") else word


def unless_empty(default: Any) -> Any:
    """Return a validator that replaces an empty text by the default: clients write empty attributes."""
    return BeforeValidator(lambda word: default if word == "" else word)


def _foreign(text: str) -> str:
    """Return the stored text. Raises ValueError unless it is one element of a foreign namespace."""
    try:
        job = parse_xml(f"<job>{text}</job>".encode())
    except Unreadable as error:
        raise ValueError(error.faults[0].message) from None
    texts = [job.text, *(child.tail for child in job)]
    if len(job) != 1 or any(text and text.strip() for text in texts) or not is_foreign(job[0]):
        raise ValueError("must be an element of a foreign namespace")
    stored = foreign_text(job[0])
    if len(stored) > limits.MAX_TEXT_LENGTH:
        raise ValueError(f"must not be longer than {limits.MAX_TEXT_LENGTH} characters")
    return stored


def _unless_blank(text: str | None) -> str | None:
    return text if text and text.strip() else None


def no_repeats(names: list[str]) -> list[str]:
    if len(set(names)) < len(names):
        raise ValueError("contains a name twice")
    return names


def _length(maximum: int, minimum: int = 0) -> Any:
    return StringConstraints(min_length=minimum, max_length=maximum)


Name = Annotated[str, _length(limits.MAX_NAME_LENGTH, 1), AfterValidator(one_line)]
OneLineText = Annotated[str, _length(limits.MAX_LINE_LENGTH), AfterValidator(one_line)]
Text = Annotated[str, _length(limits.MAX_TEXT_LENGTH), AfterValidator(printable)]
Whiteboard = Annotated[
    str, StringConstraints(strip_whitespace=True), _length(limits.MAX_LINE_LENGTH), AfterValidator(printable)
]
Url = Annotated[OneLineText, Field(min_length=1)]
# Put Field(ge=…) before this validator: after it, pydantic emits `ge`, which is not a JSON Schema keyword.
REFUSE_TEXT_AND_BOOLEANS = BeforeValidator(number("a whole number"))
Kickstart = Annotated[Text | None, AfterValidator(_unless_blank)]
Foreign = Annotated[Text, AfterValidator(_foreign)]
Options = Annotated[OneLineText, AfterValidator(_options)]
OptionalName = Annotated[Name | None, unless_empty(None)]
Role = Annotated[Name | None, BeforeValidator(none_if_absent)]
RetentionTag = Annotated[Name, AfterValidator(str.lower)]
Mail = Annotated[Name, StringConstraints(pattern=r"^[^@\s]+@[^@\s]+$")]
