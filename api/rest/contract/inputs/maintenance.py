"""Inputs about maintenance windows."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from api.rest.contract.inputs.systems import MAX_CHANGED
from api.rest.contract.values import REFUSE_TEXT_AND_BOOLEANS, Fqdn, Input, Moment, Name, Reason
from domain.maintenance.window import MAX_LEAD_SECONDS

LeadSeconds = Annotated[int, Field(ge=0, le=MAX_LEAD_SECONDS), REFUSE_TEXT_AND_BOOLEANS]


class NewMaintenanceWindow(Input):
    """A window over `systems`, or over those that have all of `pool`, `lab_controller` and `location`.

    Systems that get these properties later are covered, too. The systems drain from `lead_seconds` before
    `starts_at`. Without it, a recipe as long as the longest on them now would end in time, if that takes less
    than a year.
    """

    reason: Reason
    starts_at: Moment
    ends_at: Moment
    lead_seconds: LeadSeconds | None = None
    systems: Annotated[list[Fqdn], Field(max_length=MAX_CHANGED)] | None = None
    pool: Name | None = None
    lab_controller: Fqdn | None = None
    location: Reason | None = None

    @model_validator(mode="after")
    def _has_systems(self) -> NewMaintenanceWindow:
        has_property = any(each is not None for each in (self.pool, self.lab_controller, self.location))
        if bool(self.systems) == has_property:
            raise ValueError("must have either systems or some of pool, lab_controller and location")
        return self


class MaintenanceWindowMove(Input):
    """The new times of a window. Those that are left out stay."""

    starts_at: Moment | None = None
    ends_at: Moment | None = None
    lead_seconds: LeadSeconds | None = None


class MaintenanceWindowEnd(Input):
    reason: Reason | None = None
