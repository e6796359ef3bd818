"""The base of all inputs."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Input(BaseModel):
    """Unknown fields are errors: a misspelt one must not be ignored."""

    model_config = ConfigDict(extra="forbid")
