"""Systems of an import from Beaker: new ones, changes, pools, visibility, and power settings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from api.intake.beaker_columns import POWER, SYSTEM, SYSTEM_POOL
from api.intake.beaker_csv import BeakerRow
from api.use_cases.beaker_decision import BeakerDecision, Outcome
from api.use_cases.beaker_edits import BeakerItem, item_of
from api.use_cases.beaker_power import power_differences, requires_secret
from api.use_cases.import_systems import Imported, Importing, ImportItem, Locating, document_of
from api.use_cases.many_systems import CollectedErrors
from api.use_cases.ports import EventParts, RequestContext
from api.use_cases.power import require_may_set_power
from api.use_cases.system_rights import require_permission
from domain.access.policy import EDIT_POLICY
from domain.directory.partitions import number_of_lab
from domain.errors import Fault, unknown_name
from domain.events import Decided
from domain.system.differences import PropertyDifference
from domain.system.events import SystemPowerChanged
from domain.system.state import System
from domain.system_admin.policy import change_hidden
from domain.system_admin.power import PowerSettings
from store.power import power_settings
from store.requests import PowerChange

RowsByName = Mapping[str, Sequence[BeakerRow]]
"""The rows of systems by fqdn, or of groups by name."""

HIDDEN = "hidden"


def decide_systems(
    parts: EventParts, request: RequestContext, systems: RowsByName, added_at: str, errors: CollectedErrors
) -> tuple[BeakerDecision, dict[int, dict[str, Sequence[BeakerRow]]]]:
    """Return the decision on systems, and their rows by the number of their partition. Blocking.

    That of a system that moves is its present one. The errors are added to `errors`.
    """
    gathered = parts.aggregates.gather(f"system/{fqdn}" for fqdn in systems)
    importing = BeakerImporting(parts, request, gathered, errors)
    # Read after the versions of the systems: if they are of a later change, the append is in conflict.
    with_power = [fqdn for fqdn, rows in systems.items() if any(row.kind == POWER for row in rows)]
    stored = power_settings(parts.log, with_power)
    partitions: dict[int, dict[str, Sequence[BeakerRow]]] = defaultdict(dict)
    for fqdn, rows in systems.items():
        system = importing.visible_system(fqdn)
        if not importing.require_registered(system, rows):
            continue
        # A caller who may not view a system must not get to know its power settings.
        power = None if system is None else stored.get(fqdn)
        checked = importing.checked(rows, power)
        pools = parts.feed.directory.pools_of(fqdn) if system else ()
        present = None if system is None else document_of(system)
        item = item_of(checked, present, pools, power, owner=request.actor, added_at=added_at)
        importing.take(item)
        lab = item.document.get("lab_controller", "") if system is None else system.lab_controller
        partitions[number_of_lab(parts.feed.directory, lab)][fqdn] = checked
    outcomes = {each.fqdn: Outcome.of(each.differences, is_new=each.added) for each in importing.imported}
    decision = BeakerDecision(importing.decided, importing.versions, outcomes, importing.power_changes)
    return decision, dict(partitions)


@dataclass
class BeakerImporting(Importing):
    """An import whose faults each have the line of their row; equal ones are grouped afterwards."""

    power_changes: list[PowerChange] = field(default_factory=list)

    def require_registered(self, system: System | None, rows: Sequence[BeakerRow]) -> bool:
        """Return whether the system exists or has a row that registers it; otherwise add a fault."""
        if system is not None or any(row.kind == SYSTEM for row in rows):
            return True
        message = f"{unknown_name('system', rows[0].values['fqdn'])}; import its row of kind {SYSTEM}, too"
        self.errors.faults += [row.fault("fqdn", message) for row in rows]
        return False

    def checked(self, rows: Sequence[BeakerRow], power: PowerSettings | None) -> Sequence[BeakerRow]:
        """Add the faults of whole rows; return the rows with these cells as faulty.

        `power` has the present power settings of the system.
        """
        for kind in (SYSTEM, POWER):
            for row in [row for row in rows if row.kind == kind][1:]:
                self.errors.faults.append(row.fault("fqdn", "occurs twice"))
        return [self._with_secret(self._without_unknown_pool(row), power) for row in rows]

    def _with_secret(self, row: BeakerRow, power: PowerSettings | None) -> BeakerRow:
        if row.kind != POWER or row.faulty or not requires_secret(row, power):
            return row
        message = "is required with another power_type or power_address, because the system has a secret"
        self.errors.faults.append(row.fault("power_passwd", message))
        return replace(row, faulty=row.faulty | {"power_passwd"})

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
        assert isinstance(item, BeakerItem), "this import has items of Beaker only"
        subject = f"system/{item.fqdn}"
        hidden = change_hidden(subject, None, None, hidden=True) if item.hidden else []
        return self._with_others(item, subject, decided, imported, hidden)

    def changed(self, item: ImportItem) -> tuple[Decided, Imported]:
        decided, imported = super().changed(item)
        assert isinstance(item, BeakerItem), "this import has items of Beaker only"
        before, system = self.gathered.system(item.fqdn), self.states.now.system(item.fqdn)
        assert before is not None and system is not None, "the caller has found it"
        hidden: Decided = []
        if item.hidden is not None:
            policy, active_pool = system.access_policy, system.active_pool
            hidden = change_hidden(system.subject, policy, active_pool, hidden=item.hidden)
        # The rights are those before the import, which may give the system to another owner.
        if hidden:
            require_permission(self.directory, self.request, before, EDIT_POLICY)
            self.states.apply(hidden)
        # Also for a secret that is not new: an answer without an error would confirm a guess.
        if item.power and (item.power.gives_secret or item.power.after != item.power.before):
            require_may_set_power(self.directory, self.request, before)
        return self._with_others(item, system.subject, decided, imported, hidden)

    def _with_others(
        self, item: BeakerItem, subject: str, decided: Decided, imported: Imported, hidden: Decided
    ) -> tuple[Decided, Imported]:
        """Add the changes of visibility and of power settings."""
        changes = [*imported.differences]
        if hidden:
            was = None if imported.added else not item.hidden
            changes.append(PropertyDifference(HIDDEN, was, bool(item.hidden)))
        power: Decided = []
        if item.power and (differences := power_differences(item.power)):
            changes += differences
            power = [(subject, SystemPowerChanged(is_set=True, reason=None))]
            self.power_changes.append(PowerChange(item.fqdn, item.power.after))
        return decided + hidden + power, replace(imported, differences=changes)
