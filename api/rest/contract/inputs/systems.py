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

# At once, in one commit.
MOST_IMPORTED = 1_000


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
    key_values: dict[Name, list[Text] | None] | None = None
    excluded_families: list[Exclusion] | None = None
    added_at: Moment | None = None
    last_inventoried_at: Moment | None = None


class Answered(Input):
    """What is answered and not given. Null, as of a system that nobody has, may be sent back all the same."""

    user: None = None
    loaned_to: None = None


class System(Properties, Answered):
    """A system as it is added; whatever is left out is unknown."""

    fqdn: Fqdn
    lab_controller: Fqdn
    owner: Name
    condition: Condition = "Automated"
    pools: list[Name] = Field(default_factory=list)

    def document(self, added_at: str) -> dict[str, Any]:
        """As it is registered; `added_at` is for one that does not bring it along."""
        return {"added_at": added_at, **bare(self.model_dump(mode="json"))}


class Changes(Properties, Answered):
    """What is left out stays. Null forgets a property, or what an object has; what every system has cannot be
    forgotten.

    The defaults are never read.
    """

    model_config = ConfigDict(json_schema_extra=no_defaults)

    lab_controller: Fqdn = ""
    owner: Name = ""
    pools: list[Name] = Field(default_factory=list)
    condition: Condition = "Automated"
    added_at: Moment = datetime.min.replace(tzinfo=UTC)

    def given(self) -> dict[str, Any]:
        """Null where something is forgotten: a property, or what an object has."""
        told = self.model_dump(mode="json", exclude_unset=True)
        return {name: value if isinstance(value, dict) else bare(value) for name, value in told.items()}


class SystemPatch(Changes):
    reason: Text = ""
    draining: Flag = False


class NamedSystem(Changes):
    """One of many: it is changed, or added with what is given."""

    fqdn: Fqdn

    def document(self, **otherwise: Any) -> dict[str, Any]:
        """As it is registered; `otherwise` is for what it does not bring along."""
        return {"condition": "Automated", "pools": [], **otherwise, **bare(self.given())}


class SystemItem(NamedSystem):
    """One that a lab controller tells of."""

    reason: Text = ""

    def document(self, **otherwise: Any) -> dict[str, Any]:
        told = super().document(**otherwise)
        return {name: value for name, value in told.items() if name != "reason"}


class Inventory(Input):
    """Many systems, as they are exported."""

    systems: Annotated[list[NamedSystem], Field(max_length=MOST_IMPORTED)]


class ManySystems(Input):
    """The same, each of which is looked at by itself."""

    systems: Annotated[list[Any], Field(max_length=MOST_IMPORTED)]


class LoanWanted(Input):
    """`user`: who borrows it, else who asks."""

    user: Name | None = None
    until: Moment | None = None


class ReservationWanted(Input):
    """`distro_tree`: the id of one that is provisioned first."""

    user: Name | None = None
    until: Moment | None = None
    distro_tree: Id | None = None


def bare(value: Any) -> Any:
    """Without what is null, however deep."""
    if isinstance(value, dict):
        return {name: bare(inner) for name, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [bare(inner) for inner in value]
    return value
