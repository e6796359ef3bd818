"""Existing names for the fuzzing: a sequence of requests ends at the first unknown name."""

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

# Path -> existing for these fields, at any depth of a body.
EXISTING: dict[str, dict[str, Any]] = {"/jobs": JOB, "/systems": SYSTEM, "/tokens": TOKEN}


def with_existing_names(path: str, body: Any) -> Any:
    return _replaced(body, EXISTING.get(path, {}))


def _replaced(part: Any, existing: dict[str, Any]) -> Any:
    if isinstance(part, list):
        return [_replaced(one, existing) for one in part]
    if not isinstance(part, dict):
        return part
    if "host_requires" in part:
        part = {"distro_requires": None, **part}
    return {
        name: existing[name] if name in existing else _replaced(value, existing)
        for name, value in part.items()
    }
