"""Inputs of changes to jobs and recipe sets."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, StringConstraints

from api.intake.values import Name as Product
from api.intake.values import RetentionTag, Whiteboard
from api.rest.contract.inputs.common import Input
from api.rest.contract.values import PriorityName, Text, no_defaults


class Cancel(Input):
    reason: Annotated[Text, StringConstraints(min_length=1)]


class JobPatch(Input):
    """Fields that are left out stay; a null `product` removes it."""

    model_config = ConfigDict(json_schema_extra=no_defaults)

    whiteboard: Whiteboard = ""
    retention_tag: RetentionTag = ""
    product: Product | None = None


class PriorityChange(Input):
    priority: PriorityName
