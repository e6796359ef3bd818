"""Loading of a lab from a file, through the API. Loading the same file again changes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from api.client.calls import Client
from api.client.inventory_file import WithProgress, import_all, partitions_of_systems, parts_of
from api.client.problems import ServerProblem
from domain.errors import Fault, Unreadable


@dataclass(frozen=True)
class Section:
    """A list in the file. Each item is PUT to `path`/NAME; `key` is the field of the item that has its name.

    `separate` is a field of the item that is a resource of its own, and is PUT after the item."""

    name: str
    path: str
    key: str
    separate: str | None = None


POLICY = "access_policy"

# In loading order: items refer to items of earlier sections. Systems refer to all, and are imported last.
SECTIONS = (
    Section("users", "users", "name"),
    Section("groups", "groups", "name"),
    Section("lab_controllers", "lab-controllers", "fqdn"),
    Section("pools", "pools", "name", separate=POLICY),
    Section("distro_trees", "distro-trees", "id"),
)

SYSTEMS = "systems"


@dataclass(frozen=True)
class LoadedSection:
    """The numbers of added, changed and unchanged (`kept`) items of a section."""

    section: str
    added: int = 0
    changed: int = 0
    kept: int = 0

    @classmethod
    def of(cls, section: str, answers: Sequence[Mapping[str, Any]]) -> LoadedSection:
        added = sum(bool(answer.get("added")) for answer in answers)
        changed = sum(bool(answer.get("changed")) for answer in answers)
        return cls(section, added, changed, len(answers) - added - changed)


def without_progress(title: str, items: Sequence[Any]) -> Iterable[Any]:
    return items


def load(
    client: Client, lab: Mapping[str, Any], with_progress: WithProgress = without_progress
) -> list[LoadedSection]:
    """Load a lab. Raises ServerProblem at the first refused item; for systems, with all faults."""
    _check(lab)
    return [
        *(_put_all(client, section, lab, with_progress) for section in SECTIONS),
        _import_systems(client, lab.get(SYSTEMS, []), with_progress),
    ]


def _put_all(
    client: Client, section: Section, lab: Mapping[str, Any], with_progress: WithProgress
) -> LoadedSection:
    items = with_progress(f"loading {section.name}", lab.get(section.name, []))
    return LoadedSection.of(section.name, [_put(client, section, item) for item in items])


def _import_systems(client: Client, systems: Sequence[Any], with_progress: WithProgress) -> LoadedSection:
    """Import the new systems. Existing systems stay unchanged, because users may have edited them."""
    if not systems:
        return LoadedSection(SYSTEMS)
    existing = {system["fqdn"] for system in client.pages("/systems", SYSTEMS)[SYSTEMS]}
    rows = [{"fqdn": row["fqdn"]} if row["fqdn"] in existing else row for row in systems]
    parts = parts_of(json.dumps({SYSTEMS: rows}).encode(), "json", partitions_of_systems(client))
    done = import_all(client, parts, with_progress)
    return LoadedSection(SYSTEMS, done["added"], done["changed"], done["kept"])


def _put(client: Client, section: Section, item: Mapping[str, Any]) -> dict[str, Any]:
    body = {name: value for name, value in item.items() if name not in (section.key, section.separate)}
    path = client.path(section.path, item[section.key])
    with _located(section.name, item[section.key]):
        answer: dict[str, Any] = client.put(path, body)
        if section.separate is None or section.separate not in item:
            return answer
        policy = client.put(f"{path}/access-policy", {"entries": item[section.separate]})
    changed = not answer.get("added") and (answer.get("changed") or policy.get("changed"))
    return {**answer, "changed": bool(changed)}


@contextmanager
def _located(section: str, name: object) -> Iterator[None]:
    try:
        yield
    except ServerProblem as problem:
        detail = f"{section} {name}: {problem.detail}".removesuffix(": ")
        raise ServerProblem(problem.status, problem.title, detail, problem.faults) from None


def _check(lab: Mapping[str, Any]) -> None:
    """Raise Unreadable for faults that loading would ignore, or that would stop it half-way."""
    keys = {section.name: section.key for section in SECTIONS} | {SYSTEMS: "fqdn"}
    faults = [Fault(name, f"is unknown; a lab has {', '.join(keys)}") for name in lab if name not in keys]
    for name, key in keys.items():
        items = lab.get(name, [])
        if not isinstance(items, list):
            faults.append(Fault(name, "must be a list"))
            continue
        faults += [
            Fault(f"{name}[{number}]", f"must be an object with {key!r}")
            for number, item in enumerate(items)
            if not isinstance(item, dict) or key not in item
        ]
    if faults:
        raise Unreadable(faults)
