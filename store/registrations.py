"""Present registrations of lab controllers: the contents of their parts, stored beside the log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from store.event_log import EventLog
from store.sql import SQL

UNNAMED = 0


class PartContents(NamedTuple):
    """The systems that a part of a registration names, and the recipes that run there.

    `running` has pairs of a system and a recipe, `UNNAMED` for something without a name. `digest` identifies
    the part, so that a part that is sent again names nothing twice.
    """

    digest: bytes
    systems: Sequence[str]
    running: Sequence[tuple[str, int]]


class Noted(NamedTuple):
    """The instance that has replaced this one, if any, and the systems that another part has named."""

    replaced_by: str | None
    named_twice: frozenset[str]


class Registrations:
    """The tables of registrations. Each method is one query, blocks, and raises DatabaseAway."""

    def __init__(self, log: EventLog) -> None:
        self._log = log

    def note(self, lab_controller: str, instance: str, part: PartContents) -> Noted:
        """Add a part to the registration of this instance.

        The first part of a new instance begins a new registration. A part of an instance that was replaced
        is late, and has no effect.
        """
        systems, recipe_ids = [fqdn for fqdn, _ in part.running], [number for _, number in part.running]
        params = (lab_controller, instance, part.digest, list(part.systems), systems, recipe_ids)
        ((replaced_by, named_twice),) = self._log.rows(SQL["note_registration"], params)
        return Noted(replaced_by, frozenset(named_twice or ()))

    def running(self, lab_controller: str, instance: str) -> frozenset[tuple[str, int]] | None:
        """Return the systems with what runs there, as pairs, from all parts of a registration.

        None if this is not the present registration: another one has replaced it.
        """
        rows = self._log.rows(SQL["registered_running"], (lab_controller, instance))
        return frozenset((fqdn, number) for fqdn, number in rows if fqdn is not None) if rows else None
