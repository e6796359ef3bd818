"""A plain, slow reference evaluation of a form for one system, independent of the tested code."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from typing import Any

Answer = bool | None
Form = Mapping[str, Any]
System = Mapping[str, Any]

COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
UNITS = {"bytes": 1, "B": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12} | {
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
}

# Element -> the field of a system that holds one value.
FIELDS = {
    **dict.fromkeys(("hostname", "system/name", "host"), "fqdn"),
    **dict.fromkeys(("system_type", "system/type"), "type"),
    **dict.fromkeys(("labcontroller", "hostlabcontroller"), "lab_controller"),
    **dict.fromkeys(("memory", "system/memory"), "memory_mb"),
    **dict.fromkeys(("hypervisor", "system/hypervisor"), "hypervisor"),
    **dict.fromkeys(("numa_node_count", "system/numanodes"), "numa_nodes"),
    "system/status": "condition",
    "system/loaned": "loaned_to",
    "system/powertype": "power_type",
    **{
        f"system/{name}": name
        for name in ("owner", "user", "lender", "vendor", "model", "location", "serial")
    },
}
CPU = {"cpu_count": "processors", "cpu/processors": "processors", "cpu/speed": "speed_mhz"} | {
    f"cpu/{name}": name
    for name in ("cores", "sockets", "family", "model", "stepping", "vendor", "model_name")
}
DISK = {"size": "size_bytes", "model": "model", "sector_size": "sector_size"} | {
    "phys_sector_size": "phys_sector_size"
}
SETS: dict[str, Callable[[System], Any]] = {
    "arch": lambda system: system.get("arches"),
    "system/arch": lambda system: system.get("arches"),
    "pool": lambda system: system.get("pools"),
    "group": lambda system: system.get("pools"),
    "cpu/flag": lambda system: (system.get("cpu") or {}).get("flags"),
}
DAYS = {"system/added": "added_at", "system/last_inventoried": "last_inventoried_at"}

NOTHING = "nothing asked"


def judge(form: Form, system: System) -> Answer:
    answer = _judge(form, system, _leaf)
    return True if answer == NOTHING else answer


def _judge(form: Form, system: System, leaf: Callable[[Form, System], Any]) -> Any:
    if "force" in form:
        return system["fqdn"].lower() == form["force"].lower()
    if "element" in form:
        return leaf(form, system)
    ((word, inner),) = form.items()
    if word == "disk":
        return _some_disk(inner, system.get("disks"))
    said = [answer for answer in (_judge(child, system, leaf) for child in inner) if answer != NOTHING]
    if not said:
        return NOTHING
    if word == "or":
        return True if True in said else None if None in said else False
    every = False if False in said else None if None in said else True
    return every if word == "and" else None if every is None else not every


def _some_disk(inner: list[Form], disks: list[System] | None) -> Answer:
    """Return whether a single disk satisfies all parts; unknown without a list of disks."""
    if disks is None:
        return None
    said = [_judge({"and": inner}, disk, _disk_leaf) for disk in disks]
    if any(answer is True or answer == NOTHING for answer in said):
        return True
    return None if None in said else False


def _disk_leaf(form: Form, disk: System) -> Answer:
    return _compared(disk.get(DISK[form["element"]]), form)


def _leaf(form: Form, system: System) -> Any:
    element = form["element"]
    if element in SPECIAL:
        return SPECIAL[element](form, system)
    if element in SETS:
        return _among(SETS[element](system) or [], form, empty_is_none=element in ("pool", "group"))
    if element in DAYS:
        return _day(system.get(DAYS[element]), form, empty_is_never=element == "system/last_inventoried")
    if element in CPU:
        return _compared((system.get("cpu") or {}).get(CPU[element]), form)
    return _compared(system.get(FIELDS[element]), form)


def _compared(value: Any, form: Form) -> Answer:
    """Compare a value; if it is missing, neither a question nor its negation is true."""
    if value is None:
        return None
    op, operand = form.get("op", "=="), form["value"]
    if op == "like":
        return _like(str(value), str(operand))
    if isinstance(value, str):
        return COMPARE[op](value.lower(), str(operand).lower())
    return COMPARE[op](value, float(operand) * UNITS[form.get("units", "bytes")])


def _like(text: str, pattern: str) -> bool:
    return fnmatchcase(text.lower(), pattern.lower().replace("%", "*").replace("_", "?"))


def _among(members: list[str], form: Form, *, empty_is_none: bool) -> Answer:
    """Compare the members of a list; a missing member is absent, not unknown."""
    op, wanted = form.get("op", "=="), form["value"]
    if op == "other" and not members:
        return None
    if op == "like":
        return any(_like(member, wanted) for member in members)
    held = not members if wanted == "" and empty_is_none else wanted.lower() in map(str.lower, members)
    return held is (op not in ("!=", "other"))


def _day(moment: str | None, form: Form, *, empty_is_never: bool) -> Answer:
    """Compare a day; all moments here are in UTC."""
    op, wanted = form.get("op", "=="), form["value"]
    if wanted == "" and empty_is_never:
        return (moment is None) is (op != "!=")
    return None if moment is None else _compared(moment[:10], form)


def _hyper(form: Form, system: System) -> Answer:
    hyper = (system.get("cpu") or {}).get("hyper")
    wanted = str(form["value"]).lower() in ("true", "1")
    return None if hyper is None else (hyper is wanted) is (form.get("op", "==") != "!=")


def _auto_prov(form: Form, system: System) -> Answer:
    """Return True for a system with power control, else unknown."""
    return True if system.get("power_type") and system.get("lab_controller") else None


def _compatible(form: Form, system: System) -> bool:
    arch, major, minor = form["arch"].lower(), form["osmajor"].lower(), form.get("osminor")
    if arch not in map(str.lower, system.get("arches") or []):
        return False
    for excluded in system.get("excluded_families") or []:
        family = (excluded["arch"].lower(), excluded["family"].lower())
        if family == (arch, major) and (minor is None or excluded.get("version") in (None, minor)):
            return False
    return True


def _disk_space(form: Form, system: System) -> Answer:
    sizes = [disk.get("size_bytes") for disk in system.get("disks") or []]
    return None if not sizes or None in sizes else _compared(sum(sizes), form)


def _disk_count(form: Form, system: System) -> Answer:
    return _compared(len(system.get("disks") or []), form)


def _key_value(form: Form, system: System) -> Answer:
    op = form.get("op", "==")
    if op == "other":
        return (
            _key_value({**form, "op": "!="}, system)
            if any((system.get("key_values") or {}).values())
            else None
        )
    held = next(
        (v for key, v in (system.get("key_values") or {}).items() if key.lower() == form["key"].lower()), []
    )
    if "value" not in form:
        return bool(held) is (op != "!=")
    found = any(_keyed(value, "==" if op == "!=" else op, str(form["value"])) for value in held)
    return found is (op != "!=")


def _keyed(value: str, op: str, operand: str) -> bool:
    if op == "like":
        return _like(value, operand)
    numbers = value.lstrip("-").isdigit() and operand.lstrip("-").isdigit()
    return COMPARE[op](int(value), int(operand)) if numbers else COMPARE[op](value.lower(), operand.lower())


def _device(form: Form, system: System) -> Any:
    op = form.get("op", "==")
    wanted = {name: text for name, text in form.items() if name not in ("element", "op")}
    if not wanted:
        return NOTHING

    def is_such(device: System) -> bool:
        return all(
            device.get(name) is not None
            and (_like if op == "like" and name != "type" else _same)(device[name], text)
            for name, text in wanted.items()
        )

    return any(map(is_such, system.get("devices") or [])) is (op != "!=")


def _same(text: str, other: str) -> bool:
    return text.lower() == other.lower()


SPECIAL: dict[str, Callable[[Form, System], Any]] = {
    "cpu/hyper": _hyper,
    "auto_prov": _auto_prov,
    "system/compatible_with_distro": _compatible,
    "diskspace": _disk_space,
    "diskcount": _disk_count,
    "key_value": _key_value,
    "device": _device,
}
