"""Types of the values of a job, with their validation and normal form."""

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
    """Validate options, which are split like words of a shell: quotes must be closed."""
    if not text.isascii() or any(mark in text for mark in "'\"\\"):
        try:
            shlex.split(text)
        except ValueError as wrong:
            raise ValueError(f"cannot be split into words: {str(wrong).lower()}") from None
    return text


def none_if_absent(word: Any) -> Any:
    """Return None for the word None and for an empty text: both stand for an absent value in jobs."""
    return None if word in ("None", "") else word


def unless_empty(default: Any) -> Any:
    """Return a validator that reads an empty text as the default: clients write empty attributes."""
    return BeforeValidator(lambda word: default if word == "" else word)


def _foreign(text: str) -> str:
    """Return a foreign element as text. Raises ValueError unless it is one harmless foreign element."""
    try:
        job = parse_xml(f"<job>{text}</job>".encode())
    except Unreadable as wrong:
        raise ValueError(wrong.faults[0].message) from None
    around = [job.text, *(child.tail for child in job)]
    if len(job) != 1 or any(text and text.strip() for text in around) or not is_foreign(job[0]):
        raise ValueError("must be an element of a foreign namespace")
    kept = foreign_text(job[0])
    if len(kept) > limits.MAX_TEXT_LENGTH:
        raise ValueError(f"must not be longer than {limits.MAX_TEXT_LENGTH} characters")
    return kept


def _unless_blank(text: str | None) -> str | None:
    return text if text and text.strip() else None


def no_repeats(names: list[str]) -> list[str]:
    if len(set(names)) < len(names):
        raise ValueError("contains a name twice")
    return names


def _text(longest: int, shortest: int = 0) -> Any:
    return StringConstraints(min_length=shortest, max_length=longest)


Name = Annotated[str, _text(limits.MAX_NAME_LENGTH, 1), AfterValidator(one_line)]
Line = Annotated[str, _text(limits.MAX_LINE_LENGTH), AfterValidator(one_line)]
Text = Annotated[str, _text(limits.MAX_TEXT_LENGTH), AfterValidator(printable)]
Whiteboard = Annotated[
    str, StringConstraints(strip_whitespace=True), _text(limits.MAX_LINE_LENGTH), AfterValidator(printable)
]
Url = Annotated[Line, Field(min_length=1)]
# Bounds have to stand before it; after it the schema would have words that JSON schema does not define.
IS_WHOLE = BeforeValidator(number("a whole number"))
Kickstart = Annotated[Text | None, AfterValidator(_unless_blank)]
Foreign = Annotated[Text, AfterValidator(_foreign)]
Options = Annotated[Line, AfterValidator(_options)]
OptionalName = Annotated[Name | None, unless_empty(None)]
Role = Annotated[Name | None, BeforeValidator(none_if_absent)]
RetentionTag = Annotated[Name, AfterValidator(str.lower)]
Mail = Annotated[Name, StringConstraints(pattern=r"^[^@\s]+@[^@\s]+$")]
