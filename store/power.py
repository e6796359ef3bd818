"""Power settings of systems, beside the log, whose events say only that they changed. Blocking."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from domain.system_admin.power import PowerSettings
from postgres.named_sql import named_queries
from store.event_log import EventLog

SQL = named_queries(Path(__file__).with_name("power.sql"))


def power_settings(log: EventLog, fqdns: Collection[str]) -> dict[str, PowerSettings]:
    """Return the present settings of those systems that have any. An append stores them (`PowerChange`)."""
    if not fqdns:
        return {}
    return {fqdn: PowerSettings(*row) for fqdn, *row in log.rows(SQL["settings_of"], ([*fqdns],))}


def power_settings_of(log: EventLog, fqdn: str) -> PowerSettings | None:
    """Return the present settings of a system, None without any."""
    return power_settings(log, [fqdn]).get(fqdn)


def power_settings_after(
    log: EventLog, fqdn: str, hidden: Collection[str], limit: int
) -> list[tuple[str, PowerSettings]]:
    """Return the present settings of the next systems after a name, in the order of names."""
    rows = log.rows(SQL["settings_after"], (fqdn, [*hidden], limit))
    return [(name, PowerSettings(*row)) for name, *row in rows]


def types_elsewhere(log: EventLog, types: Collection[str], fqdns: Collection[str]) -> frozenset[str]:
    """Return those of the types that other systems than `fqdns` have."""
    return frozenset(name for (name,) in log.rows(SQL["types_elsewhere"], ([*types], [*fqdns])))
