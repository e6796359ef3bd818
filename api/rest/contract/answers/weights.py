"""Answers about weights."""

from __future__ import annotations

from api.rest.contract.answers.common import Answer


class Weight(Answer):
    """`cells`: the value of the worst cell of each level. `static_weight`: the weight before ageing."""

    weight: float
    static_weight: float
    cells: dict[str, float]
