"""Inputs of systems: new ones, changes, imports, loans and reservations."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, StringConstraints, model_validator

from api.rest.contract.values import (
    ONE_LINE_PATTERN,
    REFUSE_TEXT_AND_BOOLEANS,
    Condition,
    Count,
    Flag,
    Fqdn,
    Id,
    Input,
    Link,
    Moment,
    Name,
    Reason,
    Text,
    no_defaults,
)
from domain.characters import NAME_PATTERN
from domain.errors import listed
from domain.system.lifecycle import AUTOMATED
from domain.system_admin.power import PowerSettings

# The maximum number of systems in one import, which is one commit.
MAX_IMPORTED = 1_000
# The maximum number of systems in one change, which is one commit for each partition.
MAX_CHANGED = 10_000


# Without control characters. No message about a secret may contain it, so there is no other check.
PowerWord = Annotated[str, StringConstraints(min_length=1, max_length=1_024, pattern=ONE_LINE_PATTERN)]
PowerType = Annotated[str, StringConstraints(max_length=64, pattern=NAME_PATTERN)]


class Cpu(Input):
    processors: Count | None = None
    cores: Count | None = None
    sockets: Count | None = None
    family: Count | None = None
    model: Count | None = None
    stepping: Count | None = None
    speed_mhz: (
        Annotated[float, Field(ge=0, lt=2**31, allow_inf_nan=False), REFUSE_TEXT_AND_BOOLEANS] | None
    ) = None
    vendor: Text | None = None
    model_name: Text | None = None
    hyper: Flag | None = None
    flags: list[Text] | None = None


class Device(Input):
    type: Text | None = None
    bus: Text | None = None
    driver: Text | None = None
    vendor_id: Text | None = None
    device_id: Text | None = None
    subsys_vendor_id: Text | None = None
    subsys_device_id: Text | None = None
    description: Text | None = None


class Disk(Input):
    model: Text | None = None
    size_bytes: Annotated[int, Field(ge=0, lt=2**63), REFUSE_TEXT_AND_BOOLEANS] | None = None
    sector_size: Count | None = None
    phys_sector_size: Count | None = None


class Exclusion(Input):
    arch: Name
    family: Name
    version: Text | None = None


class Properties(Input):
    """The inventory of a system; null is unknown."""

    type: Literal["Machine", "Prototype", "Laptop", "Resource"] | None = None
    arches: list[Name] | None = None
    vendor: Text | None = None
    model: Text | None = None
    serial: Text | None = None
    location: Text | None = None
    lender: Text | None = None
    memory_mb: Count | None = None
    hypervisor: Text | None = None
    numa_nodes: Count | None = None
    power_type: Text | None = None
    cpu: Cpu | None = None
    devices: list[Device] | None = None
    disks: list[Disk] | None = None
    key_values: dict[Name, list[Text] | None] | None = None
    excluded_families: list[Exclusion] | None = None
    added_at: Moment | None = None
    last_inventoried_at: Moment | None = None


class ReadOnlyFields(Input):
    """Fields of answers that cannot be set. Null is accepted, so that an answer can be sent back."""

    user: None = None
    loaned_to: None = None


class System(Properties, ReadOnlyFields):
    """A new system; fields that are left out are unknown."""

    fqdn: Fqdn
    lab_controller: Fqdn
    owner: Name
    condition: Condition = "Automated"
    pools: list[Name] = Field(default_factory=list)

    def document(self, added_at: str) -> dict[str, Any]:
        """Return the document to register; `added_at` is the default of that field."""
        return {"added_at": added_at, **bare(self.model_dump(mode="json"))}


class Changes(Properties, ReadOnlyFields):
    """Fields that are left out stay. Null removes a property, or a part of an object.

    Fields that every system has cannot be null.
    """

    model_config = ConfigDict(json_schema_extra=no_defaults)

    lab_controller: Fqdn = ""
    owner: Name = ""
    pools: list[Name] = Field(default_factory=list)
    condition: Condition = "Automated"
    added_at: Moment = datetime.min.replace(tzinfo=UTC)

    def given(self) -> dict[str, Any]:
        """Return the given fields, None for a property, or a part of an object, to remove."""
        fields = self.model_dump(mode="json", exclude_unset=True)
        return {name: value if isinstance(value, dict) else bare(value) for name, value in fields.items()}


class SystemPatch(Changes):
    """`ticket`: a link to a report about why the system is not Automated; null removes it.

    `despite_maintenance`: undrain also a system that a maintenance window drains.
    """

    reason: Text = ""
    draining: Flag = False
    despite_maintenance: Flag = False
    ticket: Link | None = None

    @model_validator(mode="after")
    def _has_ticket_only_if_not_automated(self) -> SystemPatch:
        if self.ticket is not None and {"ticket", "condition"} <= self.model_fields_set:
            _require_ticket_allowed(self.condition)
        return self

    def given(self) -> dict[str, Any]:
        """Return the given fields as `Changes` does; an empty `ticket` is to be removed."""
        fields = super().given()
        return {**fields, "ticket": fields["ticket"] or ""} if "ticket" in fields else fields


class NamedSystem(Changes):
    """One system of an import: it is changed, or added if it is unknown."""

    fqdn: Fqdn

    def document(self, **otherwise: Any) -> dict[str, Any]:
        """Return the document to register; `otherwise` has the defaults."""
        return {"condition": "Automated", "pools": [], **otherwise, **bare(self.given())}


class SystemItem(NamedSystem):
    """A system that its lab controller reports; `reason` is that of the condition and of `draining`."""

    reason: Text = ""
    draining: Flag = False

    def document(self, **otherwise: Any) -> dict[str, Any]:
        fields = super().document(**otherwise)
        return {name: value for name, value in fields.items() if name not in ("reason", "draining")}


class Inventory(Input):
    """Many systems, in the form of the export."""

    systems: Annotated[list[NamedSystem], Field(max_length=MAX_IMPORTED)]


class ManySystems(Input):
    """Many systems, validated one by one."""

    systems: Annotated[list[Any], Field(max_length=MAX_IMPORTED)]


class BatchChange(Input):
    """The new `condition`, `draining` or `ticket` of many systems. At least one of them is required.

    A `ticket` of null removes the tickets. `despite_maintenance`: undrain also systems that a maintenance
    window drains.
    """

    systems: Annotated[list[Fqdn], Field(min_length=1, max_length=MAX_CHANGED)]
    condition: Condition | None = None
    draining: Flag | None = None
    despite_maintenance: Flag = False
    ticket: Link | None = None
    reason: Text = ""

    @model_validator(mode="after")
    def _is_complete(self) -> BatchChange:
        if self.condition is None and self.draining is None and "ticket" not in self.model_fields_set:
            raise ValueError("requires condition, draining or ticket")
        if self.ticket is not None:
            _require_ticket_allowed(self.condition)
        if twice := [fqdn for fqdn, count in Counter(self.systems).items() if count > 1]:
            raise ValueError(f"systems has {listed(twice)} more than once")
        return self


class NewPowerSettings(Input):
    """`type`: a name that the lab controller understands. `port`: the port or plug at the address.

    A `secret` that is left out stays, if type and address do; null removes it.
    """

    type: PowerType
    address: PowerWord
    port: PowerWord | None = None
    user: PowerWord | None = None
    secret: PowerWord | None = None

    def settings(self) -> PowerSettings:
        return PowerSettings(self.type, self.address, self.port, self.user, self.secret)


class NewNote(Input):
    text: Reason


class NewCondition(Input):
    """The condition of a system, as its page changes it; without a `ticket` the system has none."""

    condition: Condition
    reason: Reason
    ticket: Link | None = None


class LoanWanted(Input):
    """`user`: the borrower (default: the caller)."""

    user: Name | None = None
    until: Moment | None = None


class ReservationWanted(Input):
    """`user` defaults to the caller; `distro_tree`: id of the distro tree to provision first."""

    user: Name | None = None
    until: Moment | None = None
    distro_tree: Id | None = None


class ExtensionWanted(Input):
    """More time: `seconds` from the present end, or `until` a time."""

    seconds: Annotated[int, Field(ge=1, le=2**31 - 1), REFUSE_TEXT_AND_BOOLEANS] | None = None
    until: Moment | None = None
    reason: Reason | None = None

    @model_validator(mode="after")
    def _just_one(self) -> ExtensionWanted:
        if (self.seconds is None) == (self.until is None):
            raise ValueError("must have either seconds or until")
        return self


def _require_ticket_allowed(condition: str | None) -> None:
    """Raise ValueError for a ticket together with the condition Automated."""
    if condition == AUTOMATED:
        raise ValueError(f"ticket requires another condition than {AUTOMATED}")


def bare(value: Any) -> Any:
    """Return the value without nulls, at any depth."""
    if isinstance(value, dict):
        return {name: bare(inner) for name, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [bare(inner) for inner in value]
    return value
