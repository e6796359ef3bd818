"""Messages for validation errors of models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from pydantic_core import ErrorDetails

# Type of error -> message; other types have the message of pydantic.
_MESSAGES: Final[Mapping[str, Callable[[ErrorDetails], str]]] = {
    "missing": lambda _: "is missing",
    "extra_forbidden": lambda _: "is an unknown field",
    "string_type": lambda _: "must be text",
    "string_unicode": lambda _: "must be Unicode text",
    "string_too_long": lambda error: f"must not be longer than {error['ctx']['max_length']} characters",
    "string_too_short": lambda _: "must not be empty",
    "literal_error": lambda error: f"must be {error['ctx']['expected']}",
    "bool_type": lambda _: "must be true or false",
    "bool_parsing": lambda _: "must be true or false",
    "dict_type": lambda _: "must be an object",
    "model_type": lambda _: "must be an object",
    "model_attributes_type": lambda _: "must be an object",
    "list_type": lambda _: "must be a list",
    "too_long": lambda error: f"must not have more than {error['ctx']['max_length']} members",
    "too_short": lambda _: "must not be empty",
    "int_type": lambda _: "must be a whole number",
    "int_parsing": lambda _: "must be a whole number",
    "int_parsing_size": lambda _: "is too large",
    "int_from_float": lambda _: "must be a whole number",
    "float_type": lambda _: "must be a number",
    "float_parsing": lambda _: "must be a number",
    "finite_number": lambda _: "must be a finite number",
    "datetime_parsing": lambda _: "must be an RFC 3339 time with a zone",
    "datetime_from_date_parsing": lambda _: "must be an RFC 3339 time with a zone",
    "timezone_aware": lambda _: "must be an RFC 3339 time with a zone",
    "greater_than_equal": lambda error: f"must not be less than {error['ctx']['ge']}",
    "less_than_equal": lambda error: f"must not be more than {error['ctx']['le']}",
    "less_than": lambda error: f"must be less than {error['ctx']['lt']}",
    "none_required": lambda _: "must be null",
    "value_error": lambda error: str(error["ctx"]["error"]),
}


def error_message(error: ErrorDetails) -> str:
    message = _MESSAGES.get(error["type"])
    return message(error) if message else error["msg"]
