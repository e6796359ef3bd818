"""Names that there are. A sequence of requests that begins with one that nobody knows ends there, too."""

from __future__ import annotations

from typing import Any

JOB = {
    **dict.fromkeys(("user", "group", "product", "distro", "reservesys")),
    **{name: [] for name in ("foreign", "guests", "pools")},
    "retention_tag": "scratch",
    "kernel_options": "",
    "kernel_options_post": "",
    "ks_meta": "",
    "host_requires": {},
    "distro_requires": {"element": "name", "op": "=", "value": "RHEL-9.6"},
    "tasks": [{"name": "/distribution/check-install"}],
}
SYSTEM = {"lab_controller": "lab.east.example.com", "owner": "admin", "pools": []}
TOKEN = {"user": "admin", "role": "auditor", "lab_controller": None, "expires_at": None}

# Path -> what stands for these fields, wherever they are in a body that is sent there.
KNOWN: dict[str, dict[str, Any]] = {"/jobs": JOB, "/systems": SYSTEM, "/tokens": TOKEN}


def with_known_names(path: str, body: Any) -> Any:
    return _replaced(body, KNOWN.get(path, {}))


def _replaced(part: Any, known: dict[str, Any]) -> Any:
    if isinstance(part, list):
        return [_replaced(one, known) for one in part]
    if not isinstance(part, dict):
        return part
    if "host_requires" in part:
        part = {"distro_requires": None, **part}
    return {name: known[name] if name in known else _replaced(value, known) for name, value in part.items()}
