"""The group table: a TOML file with the groups for each external group, in a section for each source."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from domain.directory.external_groups import GroupMap
from domain.errors import Fault, FaultyInput

SECTIONS: Final = ("oidc", "ldap")


@dataclass(frozen=True)
class GroupTable:
    """The sections of the table. No group is in both, because each source sets all members of its groups."""

    oidc: GroupMap = field(default_factory=dict)
    ldap: GroupMap = field(default_factory=dict)


def read_group_table(file: Path | None) -> GroupTable:
    """Return the table in a file, an empty one without a file. Raises BadGroupTable with all faults."""
    if file is None:
        return GroupTable()
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadGroupTable([Fault(str(file), f"cannot be read: {error.strerror}")]) from None
    except ValueError as error:
        # The message of tomllib has line and column.
        raise BadGroupTable([Fault(str(file), f"must be TOML in UTF-8: {error}")]) from None
    faults = [Fault(f"{file}: {fault.where}", fault.message) for fault in _faults(document)]
    if faults:
        raise BadGroupTable(faults)
    return GroupTable(**{section: _group_map(document.get(section, {})) for section in SECTIONS})


def _group_map(section: Mapping[str, Any]) -> GroupMap:
    return {name: tuple(dict.fromkeys(_listed(groups))) for name, groups in section.items()}


def _listed(groups: Any) -> list[Any]:
    return groups if isinstance(groups, list) else [groups]


def _faults(document: Mapping[str, Any]) -> Iterator[Fault]:
    for section, rows in document.items():
        if section not in SECTIONS:
            yield Fault(section, f"unknown section; the sections are {' and '.join(SECTIONS)}")
        elif not isinstance(rows, dict):
            yield Fault(section, f"must be a section: [{section}]")
        else:
            for name, groups in rows.items():
                yield from _row_faults(f'{section}."{name}"', name, groups)
            if section == "ldap":
                yield from _twice(rows)
    yield from _shared(document)


def _row_faults(where: str, name: str, groups: Any) -> Iterator[Fault]:
    if not name.strip():
        yield Fault(where, "must be the name of an external group")
    if isinstance(groups, dict):
        yield Fault(where, 'must be a group or a list of groups; write a name with dots in quotes: "a.b"')
        return
    if groups == []:
        yield Fault(where, "must have at least one group")
    for number, group in enumerate(_listed(groups)):
        if not isinstance(group, str) or not group.strip():
            yield Fault(f"{where}[{number}]" if isinstance(groups, list) else where, "must be a group's name")


def _twice(rows: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield a fault for each row of a group of LDAP that an earlier row has in other upper and lower case."""
    names: dict[str, str] = {}
    for name in rows:
        if (first := names.setdefault(name.casefold(), name)) != name:
            yield Fault(f'ldap."{name}"', f'is the same group in LDAP as "{first}"')


def _shared(document: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield a fault for each group of a later section that an earlier one has: each would undo the other."""
    section_of: dict[str, str] = {}
    for section in SECTIONS:
        rows = document.get(section)
        for name, groups in rows.items() if isinstance(rows, dict) else ():
            for group in _listed(groups):
                first = section_of.setdefault(group, section) if isinstance(group, str) else section
                if first != section:
                    yield Fault(f'{section}."{name}"', f'group "{group}" is in [{first}], too')


class BadGroupTable(FaultyInput):
    """Invalid group table."""
