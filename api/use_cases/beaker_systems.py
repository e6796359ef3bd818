"""Systems of an import from Beaker: new ones, changes, pools, and systems that are hidden from everybody."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from api.intake.beaker_columns import SYSTEM, SYSTEM_POOL
from api.intake.beaker_csv import BeakerRow
from api.use_cases.beaker_decision import BeakerDecision, Outcome
from api.use_cases.beaker_edits import BeakerItem, item_of
from api.use_cases.import_systems import Imported, Importing, ImportItem, Locating, document_of
from api.use_cases.many_systems import CollectedErrors
from api.use_cases.ports import RequestContext, WriteParts
from api.use_cases.system_rights import require_permission
from domain.access.policy import EDIT_POLICY
from domain.directory.partitions import number_of_lab
from domain.errors import Fault, unknown_name
from domain.events import Decided
from domain.system.differences import PropertyDifference
from domain.system.state import System
from domain.system_admin.policy import change_hidden

Systems = Mapping[str, Sequence[BeakerRow]]
"""The rows of systems by fqdn."""

HIDDEN = "hidden"


def decide_systems(
    parts: WriteParts, request: RequestContext, systems: Systems, added_at: str, errors: CollectedErrors
) -> tuple[BeakerDecision, dict[int, dict[str, Sequence[BeakerRow]]]]:
    """Return the decision on systems, and their rows by the number of their partition. Blocking.

    That of a system that moves is its present one. The errors are added to `errors`.
    """
    gathered = parts.aggregates.gather(f"system/{fqdn}" for fqdn in systems)
    importing = BeakerImporting(parts, request, gathered, errors)
    partitions: dict[int, dict[str, Sequence[BeakerRow]]] = defaultdict(dict)
    for fqdn, given in systems.items():
        system = importing.visible_system(fqdn)
        if not importing.require_registered(system, given):
            continue
        rows = importing.checked(given)
        pools = parts.feed.directory.pools_of(fqdn) if system else ()
        present = None if system is None else document_of(system)
        item = item_of(rows, present, pools, owner=request.actor, added_at=added_at)
        importing.take(item)
        lab = item.document.get("lab_controller", "") if system is None else system.lab_controller
        partitions[number_of_lab(parts.feed.directory, lab)][fqdn] = rows
    outcomes = {each.fqdn: Outcome.of(each.differences, is_new=each.added) for each in importing.imported}
    return BeakerDecision(importing.decided, importing.versions, outcomes), dict(partitions)


@dataclass
class BeakerImporting(Importing):
    """An import whose faults each have the line of their row; equal ones are grouped afterwards."""

    def require_registered(self, system: System | None, rows: Sequence[BeakerRow]) -> bool:
        """Return whether the system exists or has a row that registers it; otherwise add a fault."""
        if system is not None or any(row.kind == SYSTEM for row in rows):
            return True
        message = f"{unknown_name('system', rows[0].values['fqdn'])}; import its row of kind {SYSTEM}, too"
        self.errors.faults += [row.fault("fqdn", message) for row in rows]
        return False

    def checked(self, rows: Sequence[BeakerRow]) -> Sequence[BeakerRow]:
        """Add the faults of whole rows; return the rows without the names that do not exist."""
        for row in [row for row in rows if row.kind == SYSTEM][1:]:
            self.errors.faults.append(row.fault("fqdn", "occurs twice"))
        return [self._without_unknown_pool(row) for row in rows]

    def _without_unknown_pool(self, row: BeakerRow) -> BeakerRow:
        pool = row.values.get("pool") if row.kind == SYSTEM_POOL else None
        if pool is None or self.directory.get("pool", pool) is not None:
            return row
        self.errors.faults.append(row.fault("pool", unknown_name("pool", pool)))
        return replace(row, faulty=row.faulty | {"pool"})

    def add_unknown(self, location: Locating, fault: Fault) -> None:
        self.errors.faults.append(location.locate(fault))

    def added(self, item: ImportItem) -> tuple[Decided, Imported]:
        decided, imported = super().added(item)
        hidden = change_hidden(f"system/{item.fqdn}", None, None, hidden=True) if _hides(item) else []
        return decided + hidden, _with_hidden(imported, item, hidden)

    def changed(self, item: ImportItem) -> tuple[Decided, Imported]:
        decided, imported = super().changed(item)
        system = self.states.now.system(item.fqdn)
        assert system is not None, "the caller has found it"
        hidden: Decided = []
        if isinstance(item, BeakerItem) and item.hidden is not None:
            policy, active_pool = system.access_policy, system.active_pool
            hidden = change_hidden(system.subject, policy, active_pool, hidden=item.hidden)
        if hidden:
            require_permission(self.directory, self.request, system, EDIT_POLICY)
            self.states.apply(hidden)
        return decided + hidden, _with_hidden(imported, item, hidden)


def _hides(item: ImportItem) -> bool:
    return isinstance(item, BeakerItem) and bool(item.hidden)


def _with_hidden(imported: Imported, item: ImportItem, decided: Decided) -> Imported:
    if not decided:
        return imported
    change = PropertyDifference(HIDDEN, None if imported.added else not _hides(item), _hides(item))
    return replace(imported, differences=[*imported.differences, change])
