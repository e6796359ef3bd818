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


class Registrations:
    """The tables of registrations. Each method is one query, blocks, and raises DatabaseAway."""

    def __init__(self, log: EventLog) -> None:
        self._log = log

    def note(self, lab_controller: str, instance: str, part: PartContents) -> frozenset[str]:
        """Add a part to the registration of this instance; return the systems that another part named.

        The first part of a new instance begins a new registration.
        """
        systems, recipe_ids = [fqdn for fqdn, _ in part.running], [number for _, number in part.running]
        params = (lab_controller, instance, part.digest, list(part.systems), systems, recipe_ids)
        return frozenset(fqdn for (fqdn,) in self._log.rows(SQL["note_registration"], params))

    def running(self, lab_controller: str) -> frozenset[tuple[str, int]]:
        """Return the systems with what runs there, as pairs, from all parts of the present registration."""
        return frozenset(self._log.rows(SQL["registered_running"], (lab_controller,)))
