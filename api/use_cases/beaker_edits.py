"""Rows of Beaker's files, merged with the present systems and groups into whole new values.

A row of Beaker adds or removes one value of a list, such as a pool, while a change has the whole list.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from api.intake.beaker_columns import (
    EXCLUDE,
    KEY_VALUE,
    KINDS,
    LABINFO,
    POWER,
    SYSTEM,
    SYSTEM_POOL,
    USER_GROUP,
)
from api.intake.beaker_csv import BeakerRow
from api.use_cases.beaker_power import NewPower, power_after
from api.use_cases.change_system import NewSystemValues
from api.use_cases.import_systems import ImportItem
from domain.errors import Fault
from domain.system_admin.power import PowerSettings

Values = Mapping[str, Any]

# A new system without a status: it is unusable until somebody has seen it run, as in Beaker.
NEW_CONDITION = "Broken"
# Properties that every system has, which an empty cell leaves unchanged.
NEVER_UNKNOWN = frozenset({"lab_controller", "owner", "condition"})
# Fields of NewSystemValues beside the inventory.
OUTSIDE_INVENTORY = ("lab_controller", "owner", "condition")


def by_system(rows: Iterable[BeakerRow]) -> dict[str, list[BeakerRow]]:
    """Return the rows of imported kinds by the fqdn of their system."""
    found: dict[str, list[BeakerRow]] = defaultdict(list)
    for row in rows:
        if row.kind in _APPLY and "fqdn" in row.values:
            found[row.values["fqdn"]].append(row)
    return dict(found)


def by_group(rows: Iterable[BeakerRow]) -> dict[str, list[BeakerRow]]:
    found: dict[str, list[BeakerRow]] = defaultdict(list)
    for row in rows:
        if row.kind == USER_GROUP and "group" in row.values:
            found[row.values["group"]].append(row)
    return dict(found)


@dataclass(frozen=True)
class RowLocations:
    """The locations of a system: `columns` has the row and column of each property, `first` its first row."""

    first: BeakerRow
    columns: Mapping[str, tuple[BeakerRow, str]]

    def locate(self, fault: Fault) -> Fault:
        row, column = self.columns.get(fault.where, (self.first, _column_of(fault.where)))
        return row.fault(column, fault.message)


def _column_of(where: str) -> str:
    """Return the column of a property that no row has; the location of a whole system has no column."""
    declared = KINDS[SYSTEM].columns
    return next((name for name, column in declared.items() if column.property == where), "")


@dataclass(frozen=True)
class BeakerItem(ImportItem):
    """A system of an import.

    `hidden`: whether to hide it from everybody; `power`: its power settings; each None to leave it unchanged.
    """

    hidden: bool | None = None
    power: NewPower | None = None


def item_of(
    rows: Sequence[BeakerRow],
    present: Values | None,
    pools: Sequence[str],
    power: PowerSettings | None,
    *,
    owner: str,
    added_at: str,
) -> BeakerItem:
    """Return the item of one system. `present` is its present document, None for a new system.

    `power` has its present power settings. A new system belongs to `owner` unless its rows name another one.
    """
    edit = SystemEdit(rows[0], present or {}, list(pools), power)
    for row in rows:
        edit.apply(row)
    return edit.item(None if present is not None else {"owner": owner, "added_at": added_at})


@dataclass
class SystemEdit:
    """The changes of one system so far."""

    first: BeakerRow
    present: Values
    pools: list[str]
    power_before: PowerSettings | None
    properties: dict[str, Any] = field(default_factory=dict)
    columns: dict[str, tuple[BeakerRow, str]] = field(default_factory=dict)
    faulty: set[str] = field(default_factory=set)
    hidden: bool | None = None
    power: NewPower | None = None
    reason: str = ""

    def __post_init__(self) -> None:
        self.keys = {
            key: list(values or ()) for key, values in (self.present.get("key_values") or {}).items()
        }
        self.exclusions = list(self.present.get("excluded_families") or ())
        self._before = list(self.pools)

    def apply(self, row: BeakerRow) -> None:
        columns = KINDS[row.kind].columns
        self.faulty |= {columns[name].property or name for name in row.faulty}
        if row.faulty.isdisjoint(KINDS[row.kind].required):
            _APPLY[row.kind](self, row)

    def set_columns(self, row: BeakerRow) -> None:
        """Take the columns that are a property, or the only value of a key."""
        for name, value in row.values.items():
            column = KINDS[row.kind].columns[name]
            if column.key and value is None:
                self.keys.pop(column.key, None)
            elif column.key:
                self.keys[column.key] = [value]
            elif column.property and column.property != "fqdn":
                self.columns[column.property] = (row, name)
                if value is not None or column.property not in NEVER_UNKNOWN:
                    self.properties[column.property] = value

    def set_system(self, row: BeakerRow) -> None:
        self.set_columns(row)
        if row.values.get("secret") is not None:
            self.hidden = row.values["secret"]
        if row.values.get("deleted"):
            self.properties["condition"] = "Removed"
        self.reason = row.values.get("status_reason") or ""

    def set_key_value(self, row: BeakerRow) -> None:
        held = self.keys.setdefault(row.values["key"], [])
        _put(held, row.values["key_value"], is_member=not row.values.get("deleted"))
        if not held:
            del self.keys[row.values["key"]]

    def set_exclusion(self, row: BeakerRow) -> None:
        names = {"arch": "arch", "family": "family", "update": "version"}
        given = {name: row.values.get(column) for column, name in names.items()}
        exclusion = {name: value for name, value in given.items() if value is not None}
        _put(self.exclusions, exclusion, is_member=row.values["excluded"])

    def set_pool(self, row: BeakerRow) -> None:
        _put(self.pools, row.values["pool"], is_member=not row.values.get("deleted"))

    def set_power(self, row: BeakerRow) -> None:
        if not row.faulty:
            self.power = power_after(row, self.power_before)

    def item(self, otherwise: Values | None) -> BeakerItem:
        """Return the item of a new system with the properties `otherwise`, or that of an existing one."""
        changes = dict(self._changes())
        if otherwise is not None:
            given = {name: value for name, value in changes.items() if value is not None}
            missing = {name: value for name, value in otherwise.items() if name not in self.faulty}
            changes = {"condition": NEW_CONDITION, **missing, **given}
            # A key without values is no value.
            document = {**changes, "fqdn": self.fqdn, "pools": self.pools}
        else:
            document = {
                "fqdn": self.fqdn,
                **{n: changes[n] for n in ("lab_controller", "owner") if n in changes},
            }
        change = NewSystemValues(
            **{name: changes[name] for name in OUTSIDE_INVENTORY if name in changes},
            properties={name: value for name, value in changes.items() if name not in OUTSIDE_INVENTORY},
            pools=None if self.pools == self._before else self.pools,
            reason=self.reason,
        )
        locations = RowLocations(self.first, self.columns)
        faulty = frozenset(self.faulty)
        return BeakerItem(locations, self.fqdn, document, change, faulty, self.hidden, self.power)

    @property
    def fqdn(self) -> str:
        return str(self.first.values["fqdn"])

    def _changes(self) -> Iterator[tuple[str, Any]]:
        """Yield the properties that differ from the present ones, None for one to remove.

        An empty cell equals an empty text or list, which an export writes as an empty cell.
        """
        for name, value in self.properties.items():
            before = self.present.get(name)
            if value != before and not (value is None and not before):
                yield name, value
        before_keys = self.present.get("key_values") or {}
        changed = {key: values for key, values in self.keys.items() if values != before_keys.get(key)}
        removed = dict.fromkeys(key for key in before_keys if key not in self.keys)
        if changed or removed:
            yield "key_values", {**changed, **removed}
        if self.exclusions != list(self.present.get("excluded_families") or ()):
            yield "excluded_families", self.exclusions


def _put(items: list[Any], item: Any, *, is_member: bool) -> None:
    """Add an item to a list without it, or remove it."""
    if is_member and item not in items:
        items.append(item)
    elif not is_member and item in items:
        items.remove(item)


_APPLY: Final[Mapping[str, Callable[[SystemEdit, BeakerRow], None]]] = {
    SYSTEM: SystemEdit.set_system,
    LABINFO: SystemEdit.set_columns,
    KEY_VALUE: SystemEdit.set_key_value,
    EXCLUDE: SystemEdit.set_exclusion,
    SYSTEM_POOL: SystemEdit.set_pool,
    POWER: SystemEdit.set_power,
}


def group_after(rows: Sequence[BeakerRow], present: Values | None) -> dict[str, Any]:
    """Return the document of a group after its rows; `present` is None for a new group, without owners.

    A user who is removed is no owner either, as in Beaker, where owners are members.
    """
    members = list((present or {}).get("members", ()))
    owners = list((present or {}).get("owners", ()))
    for row in rows:
        is_member = not row.values.get("deleted")
        _put(members, row.values["user"], is_member=is_member)
        if not is_member:
            _put(owners, row.values["user"], is_member=False)
    return {"owners": owners, "members": members}
