"""Input of the dry run of a weight. `domain.admission.weight_question` validates it."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

from api.intake.document import Locks
from api.rest.contract.values import REFUSE_TEXT_AND_BOOLEANS, Flag, Input, no_defaults


class WeightQuestion(Input):
    """Declared `locks` beside the locks of placed recipes (`running`). No field is required.

    `base_value`, with at most three decimals, and `coefficient` are by default those of the configuration. An
    age below 0 counts as 0.
    """

    model_config = ConfigDict(json_schema_extra=no_defaults)

    locks: Locks = Field(default_factory=dict)
    running: list[Locks] = Field(default_factory=list)
    whole_lab: Flag = False
    base_value: Annotated[float, Field(ge=0, le=1_000_000), REFUSE_TEXT_AND_BOOLEANS] = 1
    age_ticks: Annotated[int, Field(ge=-1_000_000, le=1_000_000), REFUSE_TEXT_AND_BOOLEANS] = 0
    coefficient: Annotated[int, Field(ge=1, le=1_000_000), REFUSE_TEXT_AND_BOOLEANS] = 30
