"""The base of all answers."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from api.rest.contract.values import Time


class AnswerPart(BaseModel):
    """A part of an answer, without other fields."""

    model_config = ConfigDict(extra="forbid")


class Answer(AnswerPart):
    """`position`: the log position that the answer reflects, or that of the last event written."""

    position: int


class ReadAnswer(Answer):
    """`as_of`: the time of an answer about the past."""

    as_of: Time | None = None


class ListAnswer(ReadAnswer):
    """`next`: the cursor of the next page, null on the last one."""

    next: str | None


class FaultShape(AnswerPart):
    where: str
    message: str


class Problem(BaseModel):
    """RFC 9457. `errors` has the errors in the input; if there are many, the first ones and a count."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[FaultShape] = []
