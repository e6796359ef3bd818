"""Systems as clients send them: whole, what changes of one, and what a person wants of one."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from api.rest.contract.inputs.common import Input
from api.rest.contract.values import (
    IS_NUMBER,
    Condition,
    Count,
    Flag,
    Fqdn,
    Id,
    Moment,
    Name,
    Text,
    no_defaults,
)


class Cpu(Input):
    processors: Count | None = None
    cores: Count | None = None
    sockets: Count | None = None
    family: Count | None = None
    model: Count | None = None
    stepping: Count | None = None
    speed_mhz: Annotated[float, Field(ge=0, lt=2**31, allow_inf_nan=False), IS_NUMBER] | None = None
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
    size_bytes: Annotated[int, Field(ge=0, lt=2**63), IS_NUMBER] | None = None
    sector_size: Count | None = None
    phys_sector_size: Count | None = None


class Exclusion(Input):
    arch: Name
    family: Name
    version: Text | None = None


class Properties(Input):
    """The inventory of a system; whatever is null is unknown."""

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
    key_values: dict[Name, list[Text]] | None = None
    excluded_families: list[Exclusion] | None = None
    added_at: Moment | None = None
    last_inventoried_at: Moment | None = None


class System(Properties):
    """A system as it is added; whatever is left out is unknown."""

    fqdn: Fqdn
    lab_controller: Fqdn
    owner: Name
    condition: Condition = "Automated"
    pools: list[Name] = Field(default_factory=list)

    def document(self, added_at: str) -> dict[str, Any]:
        """As it is registered; `added_at` is for one that does not bring it along."""
        return {"added_at": added_at, **self.model_dump(mode="json", exclude_none=True)}


class Changes(Properties):
    """What is left out stays. Null forgets a property; what every system has cannot be forgotten.

    The defaults are never read.
    """

    model_config = ConfigDict(json_schema_extra=no_defaults)

    lab_controller: Fqdn = ""
    owner: Name = ""
    pools: list[Name] = Field(default_factory=list)
    condition: Condition = "Automated"
    reason: Text = ""
    added_at: Moment = datetime.min.replace(tzinfo=UTC)

    def given(self) -> dict[str, Any]:
        return self.model_dump(mode="json", exclude_unset=True, exclude_none=True)


class SystemPatch(Changes):
    draining: Flag = False


class SystemItem(Changes):
    """One that a lab controller tells of: it is changed, or added with what is given."""

    fqdn: Fqdn

    def document(self, lab_controller: str, owner: str, added_at: str) -> dict[str, Any]:
        """As it is registered; `owner` and `added_at` are for one that does not bring them along."""
        rest: dict[str, Any] = {"owner": owner, "condition": "Automated", "pools": [], "added_at": added_at}
        given = {name: value for name, value in self.given().items() if name != "reason"}
        return {**rest, **given, "lab_controller": lab_controller}


class LoanWanted(Input):
    """`user`: who borrows it, else who asks."""

    user: Name | None = None
    until: Moment | None = None


class ReservationWanted(Input):
    """`distro_tree`: the id of one that is provisioned first."""

    user: Name | None = None
    until: Moment | None = None
    distro_tree: Id | None = None
