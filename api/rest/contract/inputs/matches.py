"""Inputs of searches for matching systems."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, RootModel

from api.intake.document import Job
from api.rest.contract.inputs.common import Input


class Filter(Input):
    """A host requirement, either as XML or in its JSON form."""

    host_requires_xml: Annotated[str | None, Field(description="`<hostRequires>…</hostRequires>`")] = None
    host_requires: dict[str, Any] | None = None


class Matchable(RootModel[Filter | Job]):
    """A host requirement, or a whole job as for submission."""
