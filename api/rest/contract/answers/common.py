"""What all answers have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from api.rest.contract.values import Time


class Shape(BaseModel):
    """A part of an answer. It has these fields and no others."""

    model_config = ConfigDict(extra="forbid")


class Answer(Shape):
    """`position`: what an answer reflects, or the last event of what was written."""

    position: int


class ReadAnswer(Answer):
    """`as_of` is the moment it speaks of, where one of the past was asked for."""

    as_of: Time | None = None


class ListAnswer(ReadAnswer):
    """`next`: where the list goes on."""

    next: str | None


class FaultShape(Shape):
    where: str
    message: str


class Problem(BaseModel):
    """RFC 9457. `errors` has the faults of the input: of very many the first, and how many more there are."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[FaultShape] = []
