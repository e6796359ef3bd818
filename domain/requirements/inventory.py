"""The properties of systems, disks and distro trees, with their paths in the documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from domain.requirements import property as of
from domain.requirements.property import Property

DEVICE_ATTRIBUTES: Final = (
    "type",
    "bus",
    "driver",
    "vendor_id",
    "device_id",
    "subsys_vendor_id",
    "subsys_device_id",
    "description",
)
DISK_ATTRIBUTES: Final = ("model", "size_bytes", "sector_size", "phys_sector_size")

SYSTEM: Final[Mapping[str, Property]] = {
    "fqdn": of.text("fqdn"),
    "type": of.text("type"),
    "condition": of.text("condition"),
    "lab_controller": of.text("lab_controller"),
    "owner": of.text("owner"),
    "user": of.text("user"),
    "loaned_to": of.text("loaned_to"),
    "lender": of.text("lender"),
    "vendor": of.text("vendor"),
    "model": of.text("model"),
    "serial": of.text("serial"),
    "location": of.text("location"),
    "power_type": of.text("power_type"),
    "auto_prov": of.AUTO_PROV,
    "memory_mb": of.number("memory_mb"),
    "hypervisor": of.text("hypervisor"),
    "numa_nodes": of.number("numa_nodes"),
    "arches": of.members("arches"),
    "installable": of.INSTALLABLE,
    "pools": of.members("pools"),
    "cpu.processors": of.number("cpu", "processors"),
    "cpu.cores": of.number("cpu", "cores"),
    "cpu.sockets": of.number("cpu", "sockets"),
    "cpu.family": of.number("cpu", "family"),
    "cpu.model": of.number("cpu", "model"),
    "cpu.stepping": of.number("cpu", "stepping"),
    "cpu.speed_mhz": of.decimal("cpu", "speed_mhz"),
    "cpu.vendor": of.text("cpu", "vendor"),
    "cpu.model_name": of.text("cpu", "model_name"),
    "cpu.hyper": of.flag("cpu", "hyper"),
    "cpu.flags": of.members("cpu", "flags"),
    "added_at": of.day("added_at"),
    "last_inventoried_at": of.day("last_inventoried_at"),
    "key_values": of.keyed("key_values"),
    "devices": of.records("devices", DEVICE_ATTRIBUTES),
    "disks": of.records("disks", DISK_ATTRIBUTES),
    "disk_count": of.count("disks"),
    "disk_bytes": of.total("disks", "size_bytes"),
}

DISK: Final[Mapping[str, Property]] = {
    "model": of.text("model"),
    "size_bytes": of.number("size_bytes"),
    "sector_size": of.number("sector_size"),
    "phys_sector_size": of.number("phys_sector_size"),
}

DISTRO_TREE: Final[Mapping[str, Property]] = {
    "name": of.text("name"),
    "family": of.text("family"),
    "variant": of.text("variant"),
    "arch": of.text("arch"),
    "tags": of.members("tags"),
    "lab_controllers": of.having_urls("urls"),
}
