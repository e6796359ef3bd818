"""What all JSON that clients send has in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Input(BaseModel):
    """Unknown fields are faults: a misspelt one must not be dropped in silence."""

    model_config = ConfigDict(extra="forbid")
