"""Host requirements, each with an equivalent predicate for one system."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from domain.requirements.host import HOST
from domain.system.state import System

Predicate = Callable[[System, list[str]], bool]


@dataclass(frozen=True)
class HostRequirement:
    text: str
    holds: Predicate


def _want(form: dict[str, Any], holds: Predicate) -> HostRequirement:
    reading = HOST.examine(form)
    assert not reading.findings, reading.findings
    return HostRequirement(reading.text, holds)


def at_least(megabytes: int) -> HostRequirement:
    form = {"element": "memory", "op": ">=", "value": megabytes}
    return _want(form, lambda system, pools: bool(system.inventory["memory_mb"] >= megabytes))


_NET = {"element": "pool", "op": "==", "value": "net"}
_8192 = {"element": "memory", "op": ">=", "value": 8192}
_M2 = {"element": "hostname", "op": "like", "value": "m2%"}

ANYTHING = _want({"and": []}, lambda system, pools: True)
BIG = at_least(8192)
IN_POOL = _want(_NET, lambda system, pools: "net" in pools)
NOT_IN_POOL = _want({"not": [_NET]}, lambda system, pools: "net" not in pools)
BIG_OR_IN_POOL = _want(
    {"or": [_8192, _NET]}, lambda system, pools: system.inventory["memory_mb"] >= 8192 or "net" in pools
)
SECOND = _want(_M2, lambda system, pools: system.fqdn.startswith("m2"))
HUGE = at_least(1_000_000)

ALL = (ANYTHING, BIG, IN_POOL, NOT_IN_POOL, BIG_OR_IN_POOL, SECOND, HUGE)


def named(*fqdns: str) -> str:
    """Return a requirement that exactly these systems meet."""
    leaves = [{"element": "hostname", "op": "==", "value": fqdn} for fqdn in fqdns]
    return HOST.examine({"or": leaves}).text


def forces(fqdn: str) -> str:
    """Return a requirement that forces a system."""
    return HOST.examine({"force": fqdn}).text


def in_pool(pool: str) -> str:
    return HOST.examine({"element": "pool", "op": "==", "value": pool}).text
