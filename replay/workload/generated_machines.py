"""Generated machines: a table of models, and the properties that vary between machines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any


@dataclass(frozen=True)
class Product:
    """A model of machines. `share` is its weight in the choice of models."""

    share: int
    prefix: str
    vendor: str
    model: str
    arch: str
    processors: tuple[int, ...]
    memory_gb: tuple[int, ...]
    flags: tuple[str, ...] = ()
    drivers: tuple[str, ...] = ("tg3",)
    type: str = "Machine"
    power: str = "ipmi"


MODELS = (
    Product(30, "r640", "Dell", "R640", "x86_64", (16, 32), (64, 128), ("vmx", "sse4_2"), ("ixgbe", "tg3")),
    Product(20, "dl360", "HPE", "DL360", "x86_64", (8, 16), (16, 32, 64), ("vmx",), ("igb",), power="ilo"),
    Product(15, "epyc", "Supermicro", "H12", "x86_64", (32, 64), (128, 256), ("svm", "avx2"), ("mlx5_core",)),
    Product(12, "t40", "Dell", "T40", "x86_64", (2, 4), (4, 8), ("sse2",), ("e1000", "tg3")),
    Product(12, "altra", "Ampere", "Altra", "aarch64", (32, 80), (32, 64), ("asimd",), ("mlx5_core", "igb")),
    Product(5, "p9", "IBM", "S922", "ppc64le", (16,), (64, 128), ("altivec",), ("tg3",)),
    Product(3, "z", "IBM", "z16", "s390x", (4, 8), (8, 16), ("vx",), ("qeth",), power="zvm"),
    Product(3, "lap", "Lenovo", "T14", "x86_64", (4, 8), (8, 16), ("vmx",), ("e1000",), type="Laptop"),
)  # fmt: skip

# Condition -> percent of machines.
CONDITIONS = {"Automated": 92, "Manual": 5, "Broken": 3}
DISK_GB = (80, 240, 480, 960, 4000)
# Percent of machines that cannot install the newest family.
EXCLUDING_PERCENT = 5
VIRTUAL = frozenset({"vmx", "svm"})


def machine(number: int, lab_controller: str, owners: Sequence[str], chance: Random) -> dict[str, Any]:
    """Return a system document of the API. Its name contains `number`, so it is unique."""
    model = chance.choices(MODELS, weights=[each.share for each in MODELS])[0]
    processors, memory_mb = chance.choice(model.processors), chance.choice(model.memory_gb) * 1024
    driver = chance.choice(model.drivers)
    disks = [_disk(chance) for _ in range(chance.randint(1, 3))]
    virtual = processors >= 8 and not VIRTUAL.isdisjoint(model.flags)
    lacks_newest = chance.random() * 100 < EXCLUDING_PERCENT
    system: dict[str, Any] = {
        "fqdn": f"{model.prefix}-{number:04}.{lab_controller.removeprefix('lab.')}",
        "lab_controller": lab_controller,
        "owner": chance.choice([*owners, "lab-ops"]),
        "condition": chance.choices(list(CONDITIONS), weights=list(CONDITIONS.values()))[0],
        "type": model.type,
        "arches": [model.arch],
        "vendor": model.vendor,
        "model": model.model,
        "memory_mb": memory_mb,
        "hypervisor": "",
        "numa_nodes": max(1, processors // 16),
        "power_type": model.power,
        "cpu": _cpu(model, processors),
        "devices": [_device(driver)],
        "disks": disks,
        "key_values": {"HVM": ["1"]} if virtual else {},
        "excluded_families": [_exclusion(model)] if lacks_newest else [],
        "added_at": f"2025-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}T00:00:00Z",
    }
    system["pools"] = _pools(system, driver, chance)
    return {**system, **_asset(number, model, chance), "cpu": {**system["cpu"], **_cpu_model(model, chance)}}


def _cpu(model: Product, processors: int) -> dict[str, Any]:
    return {
        "processors": processors,
        "cores": max(1, processors // 2),
        "sockets": 2 if processors >= 16 else 1,
        "speed_mhz": 2500.0,
        "vendor": "AuthenticAMD" if "svm" in model.flags else "GenuineIntel",
        "hyper": True,
        "flags": list(model.flags),
    }


def _cpu_model(model: Product, chance: Random) -> dict[str, Any]:
    return {
        "family": 23 if "svm" in model.flags else 6,
        "model": chance.choice((79, 85, 106)),
        "stepping": chance.randint(1, 7),
        "speed_mhz": chance.choice((2100.0, 2500.0, 2593.75, 3200.0)),
        "model_name": f"{model.vendor} {model.model} CPU",
    }


def _asset(number: int, model: Product, chance: Random) -> dict[str, Any]:
    """Return serial number, location, lender and last inventory. Some machines lack some of these."""
    lender = chance.choice((None, None, None, model.vendor))
    seen = chance.random() < 0.7
    fields = {
        "serial": f"{model.vendor[:2].upper()}-{number:06}",
        "location": f"room-{chance.randint(1, 3)} rack-{chance.randint(1, 20):02}",
        "lender": lender,
        "last_inventoried_at": f"2026-{chance.randint(1, 9):02}-01T00:00:00Z" if seen else None,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _device(driver: str) -> dict[str, Any]:
    return {"type": "NETWORK", "bus": "pci", "driver": driver, "description": "Ethernet controller"}


def _disk(chance: Random) -> dict[str, Any]:
    size_bytes = chance.choice(DISK_GB) * 10**9
    return {"model": "ST500", "size_bytes": size_bytes, "sector_size": 512, "phys_sector_size": 4096}


def _exclusion(model: Product) -> dict[str, Any]:
    return {"arch": model.arch, "family": "RedHatEnterpriseLinux10"}


def _pools(system: dict[str, Any], driver: str, chance: Random) -> list[str]:
    """Return a random choice of the pools that suit the machine."""
    suits = {
        "big": system["memory_mb"] >= 65_536,
        "small": system["memory_mb"] <= 16_384,
        "other-arches": system["arches"] != ["x86_64"],
        "fast-network": driver in ("ixgbe", "mlx5_core"),
        "storage": len(system["disks"]) >= 3,
        "virt": bool(system["key_values"]),
    }
    return [pool for pool, suited in suits.items() if suited and chance.random() < 0.7]
