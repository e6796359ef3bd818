"""Fields of forms, also those that the models of the HTTP API define: their names, choices and bounds."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import Enum, auto
from typing import Any, Final, TypeAlias

import orjson
from pydantic import BaseModel

from api.intake.words import printable
from api.rest.body import check_model
from api.rest.contract.query_values import moment
from domain.errors import Fault, FaultyInput

Fields: TypeAlias = Mapping[str, Any]
"""The values of a form by name; those that were left empty are missing."""
# Texts of several lines have only the bound of the whole form.
MAX_LINE_LENGTH = 4_000
_ABBREVIATIONS: Final = {"fqdn": "FQDN", "id": "ID", "urls": "URLs"}
_YES_OR_NO: Final = {"yes": True, "no": False}


class Format(Enum):
    """The way in which a field writes its value. Names, and names with addresses, are one on each line."""

    TEXT = auto()
    # A text that may be empty.
    WORDS = auto()
    FLAG = auto()
    NUMBER = auto()
    NAMES = auto()
    ADDRESSES = auto()
    JSON = auto()


@dataclass(frozen=True)
class FormField:
    """A field of a form, a choice if it has `choices`. A secret is never shown again.

    `choices_of` returns the choices that the subject of the form has at present, None if all have the same.
    """

    name: str
    label: str
    choices: tuple[str, ...] = ()
    is_required: bool = False
    hint: str = ""
    format: Format = Format.TEXT
    is_secret: bool = False
    choices_of: Callable[[Mapping[str, Any]], tuple[str, ...]] | None = None

    def element(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values from which a template renders the field; `facts` are those about the subject."""
        choices = self.choices if self.choices_of is None else self.choices_of(facts)
        shown = {**asdict(self), "choices": choices, "format": self.format.name, "is_long": self.is_long}
        del shown["choices_of"]
        return shown

    @property
    def is_long(self) -> bool:
        """Return whether the value has several lines."""
        return self.format in (Format.NAMES, Format.ADDRESSES, Format.JSON)

    def fault(self, value: str | None) -> Fault | None:
        """Return what is wrong with the value by itself."""
        if value is None:
            return Fault(self.name, "must not be empty") if self.is_required else None
        if len(value) > MAX_LINE_LENGTH and not self.is_long:
            return Fault(self.name, f"must have at most {MAX_LINE_LENGTH} characters")
        if self.choices and value not in self.choices:
            return Fault(self.name, f"must be one of {', '.join(self.choices)}")
        try:
            printable(value)
        except ValueError as error:
            return Fault(self.name, str(error))
        return self._json_fault(value) if self.format is Format.JSON else None

    def _json_fault(self, text: str) -> Fault | None:
        try:
            orjson.loads(text)
        except orjson.JSONDecodeError as error:
            return Fault(self.name, f"is not JSON: {error.msg}, in line {error.lineno}, column {error.colno}")
        return None

    def filled(self, form: Mapping[str, str], present: Mapping[str, Any]) -> str:
        """Return the text with which the field is shown: as it was sent, otherwise the present value."""
        if self.is_secret:
            return ""
        return form[self.name] if self.name in form else self._written(present.get(self.name))

    def _written(self, value: Any) -> str:
        if value is None:
            return ""
        if self.format is Format.FLAG:
            return "yes" if value else "no"
        if self.format is Format.NAMES:
            return "\n".join(value)
        if self.format is Format.ADDRESSES:
            return "\n".join(f"{name} {one}".strip() for name, all_ in value.items() for one in all_ or [""])
        if self.format is Format.JSON:
            return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
        return str(value)

    def read(self, text: str) -> Any:
        """Return the value of a text, or the text itself if it has none, so that the model refuses it."""
        if self.format is Format.FLAG:
            return _YES_OR_NO.get(text, text)
        if self.format is Format.NUMBER and re.fullmatch("-?[0-9]{1,18}", text):
            return int(text)
        if self.format is Format.NAMES:
            return text.split()
        if self.format is Format.ADDRESSES:
            return _addresses(text)
        if self.format is Format.JSON:
            return orjson.loads(text)
        return text


def force_field(label: str, hint: str) -> FormField:
    """Return the field for what goes with a removal, if it is not to be refused because of that."""
    return FormField("force", label, choices=tuple(_YES_OR_NO)[::-1], is_required=True, hint=hint)


DESPITE_MAINTENANCE: Final = FormField(
    "despite_maintenance",
    "Despite maintenance",
    choices=tuple(_YES_OR_NO)[::-1],
    hint="yes: undrain also what a maintenance window drains",
)


def until_of(fields: Fields) -> datetime | None:
    """Return the time in the field `until`, None if it is empty. Raises FaultyInput."""
    text = fields.get("until")
    found = None if text is None else moment(text)
    if text is not None and found is None:
        raise FaultyInput([Fault("until", "must be a time with a zone, such as 2026-11-29T18:00:00Z")])
    return found


def _addresses(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, *address = line.split(maxsplit=1)
        found.setdefault(name, []).extend(address)
    return found


def fields_of_model(
    model: type[BaseModel], first: str | None = None, secrets: Sequence[str] = (), **hints: str
) -> tuple[FormField, ...]:
    """Return a field for each field of the model, `first` before the others."""
    schema = model.model_json_schema()
    properties: dict[str, Any] = schema["properties"]
    names = sorted(properties, key=lambda name: name != first)
    required = schema.get("required", ())
    if unknown := hints.keys() - properties.keys():
        raise ValueError(f"{model.__name__} has no fields {sorted(unknown)}: hints name fields of the model")
    return tuple(
        _field(name, properties[name], name in required, name in secrets, hints.get(name, ""))
        for name in names
    )


def _field(
    name: str, described: Mapping[str, Any], is_required: bool, is_secret: bool, hint: str
) -> FormField:
    kinds = described.get("anyOf", [described])
    kind = next(each for each in kinds if each.get("type") != "null")
    format_ = _format(kind)
    choices = tuple(_YES_OR_NO) if format_ is Format.FLAG else tuple(kind.get("enum", ()))
    return FormField(
        name,
        label=_ABBREVIATIONS.get(name) or name.replace("_", " ").capitalize(),
        choices=choices,
        is_required=is_required or format_ is Format.FLAG,
        hint=hint,
        format=format_,
        is_secret=is_secret,
    )


def _format(kind: Mapping[str, Any]) -> Format:
    """Return the format for a type of a JSON schema."""
    match kind.get("type"):
        case "boolean":
            return Format.FLAG
        case "integer" | "number":
            return Format.NUMBER
        case "array" if kind["items"].get("type") == "string":
            return Format.NAMES
        case "object" if "patternProperties" in kind:
            return Format.ADDRESSES
        case "string":
            bounds = {"minLength", "pattern", "enum", "format"}
            return Format.TEXT if bounds & kind.keys() else Format.WORDS
        case _:
            return Format.JSON


def read_model_form(
    model: type[BaseModel], fields: Sequence[FormField], form: Mapping[str, str]
) -> dict[str, Any]:
    """Return the values of a form as the model writes them in JSON.

    Empty fields are left out, but for texts that may be empty and for lists of names or addresses. Raises
    FaultyInput with the faults of texts that are not JSON, otherwise with all faults.
    """
    may_be_empty = (Format.WORDS, Format.NAMES, Format.ADDRESSES)
    texts = {each: form[each.name].strip() for each in fields if each.name in form}
    written = [(each, text) for each, text in texts.items() if text and each.format is Format.JSON]
    if faults := [fault for each, text in written if (fault := each.fault(text)) is not None]:
        raise FaultyInput(faults)
    given = {
        each.name: form[each.name] if each.is_secret else each.read(text)
        for each, text in texts.items()
        if text or each.format in may_be_empty
    }
    return check_model(given, model).model_dump(mode="json")


def faults_by_field(faults: Sequence[Fault], fields: Sequence[FormField]) -> dict[str, str]:
    """Return the faults by the names of their fields; that of a part, such as `members[2]`, names it."""
    names = {each.name for each in fields}
    found: dict[str, list[str]] = {}
    for fault in faults:
        name = re.split(r"[.\[]", fault.where, maxsplit=1)[0]
        is_part = name in names and name != fault.where
        where = name if name in names else fault.where
        found.setdefault(where, []).append(f"{fault.where} {fault.message}" if is_part else fault.message)
    return {where: "; ".join(messages) for where, messages in found.items()}
