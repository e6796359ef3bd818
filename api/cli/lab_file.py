"""A lab from a file, through the API. Loading it again changes nothing that is as the file says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from api.cli.lab_progress import advancing
from api.client.problems import Problem
from domain.errors import Fault, Unreadable

if TYPE_CHECKING:
    from api.client import Client


@dataclass(frozen=True)
class Section:
    """Where the items of one list of the file go: PUT at `path`, named by the field `key`."""

    name: str
    path: str
    key: str
    # Fields that belong to a resource of their own, which is not loaded.
    apart: frozenset[str] = frozenset()


# In this order: each names what stands before it. Systems are posted, for they cannot be put.
SECTIONS = (
    Section("users", "/users", "name"),
    Section("groups", "/groups", "name"),
    Section("lab_controllers", "/lab-controllers", "fqdn"),
    Section("pools", "/pools", "name", apart=frozenset({"access_policy"})),
    Section("distro_trees", "/distro-trees", "id"),
)

CONFLICT = 409


@dataclass(frozen=True)
class Loaded:
    """How many items of a section were loaded, and how many were there and stay as they are."""

    section: str
    loaded: int = 0
    kept: int = 0

    def document(self) -> dict[str, Any]:
        return {"section": self.section, "loaded": self.loaded, "kept": self.kept}


def load(client: Client, lab: Mapping[str, Any]) -> list[Loaded]:
    """Put and post everything in the file; stops at the first item that is refused."""
    _check(lab)
    return [*(_put_all(client, section, lab) for section in SECTIONS), _post_systems(client, lab)]


def left_out(lab: Mapping[str, Any]) -> list[str]:
    """What stands in the file and is not loaded, because the API has no place for it."""
    return [
        f"{field} of {section.name}"
        for section in SECTIONS
        for field in sorted(section.apart)
        if any(field in item for item in lab.get(section.name, []))
    ]


def _put_all(client: Client, section: Section, lab: Mapping[str, Any]) -> Loaded:
    items = lab.get(section.name, [])
    for item in advancing(f"loading {section.name}", items):
        _put(client, section, item)
    return Loaded(section.name, loaded=len(items))


def _post_systems(client: Client, lab: Mapping[str, Any]) -> Loaded:
    added = [_post(client, system) for system in advancing("loading systems", lab.get("systems", []))]
    return Loaded("systems", loaded=added.count(True), kept=added.count(False))


def _put(client: Client, section: Section, item: Mapping[str, Any]) -> None:
    body = {name: value for name, value in item.items() if name != section.key and name not in section.apart}
    with _placed(section.name, item[section.key]):
        client.put(f"{section.path}/{quote(str(item[section.key]), safe='')}", body)


def _post(client: Client, system: Mapping[str, Any]) -> bool:
    """False when there is such a system already: it may have changed since, and stays as it is."""
    try:
        with _placed("systems", system["fqdn"]):
            client.post("/systems", system)
    except Problem as problem:
        if problem.status != CONFLICT:
            raise
        return False
    return True


@contextmanager
def _placed(section: str, name: object) -> Iterator[None]:
    """A refusal tells which item of the file it is about."""
    try:
        yield
    except Problem as problem:
        detail = f"{section} {name}: {problem.detail}".removesuffix(": ")
        raise Problem(problem.status, problem.title, detail, problem.faults) from None


def _check(lab: Mapping[str, Any]) -> None:
    """What would be skipped or fail half-way is told before anything is loaded."""
    keys = {section.name: section.key for section in SECTIONS} | {"systems": "fqdn"}
    faults = [Fault(name, "is no part of a lab") for name in lab if name not in keys]
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
