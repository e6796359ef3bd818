"""The names a job uses that nobody knows, or that its submitter may not use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from domain.directory.known_names import KnownNames
from domain.names import unknown_name
from domain.requirements.findings import Finding, Path
from domain.requirements.language import Reading

_KINDS: Final = {
    "users": "user",
    "pools": "pool",
    "arches": "arch",
    "keys": "key",
    "lab_controllers": "lab-controller",
    "systems": "system",
    "power_types": "power-type",
}

Named = tuple[Path, Mapping[str, Any], Mapping[str, Reading]]
"""A recipe with its path, and its requirements as they were read, by field."""


def check_names(
    document: Mapping[str, Any],
    recipes: Iterable[Named],
    known: KnownNames,
    submitter: str,
    *,
    is_admin: bool,
) -> list[Finding]:
    """All of them. The document may be faulty otherwise: what is not where it belongs is passed over."""
    findings = [*_owner(document.get("user"), known, submitter, is_admin=is_admin)]
    findings += _group(document.get("group"), known, submitter, is_admin=is_admin)
    for path, recipe, readings in recipes:
        findings += _filter_names(path, readings, known)
        findings += _pool_names(path, recipe.get("autopick"), known)
        findings += _distro_names(path, recipe.get("distro"), known)
    return findings


def recipes_of(document: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """The recipes of a document that need not be sound, each with its path and before its guests."""
    for set_path, recipe_set in objects(document, (), "recipe_sets"):
        for path, recipe in objects(recipe_set, set_path, "recipes"):
            yield path, recipe
            yield from objects(recipe, path, "guests")


def objects(parent: Mapping[str, Any], path: Path, field: str) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Those members of a list that are objects, each with its path."""
    members = parent.get(field)
    for index, member in enumerate(members if isinstance(members, list) else ()):
        if isinstance(member, Mapping):
            yield (*path, field, index), member


def _owner(user: Any, known: KnownNames, submitter: str, *, is_admin: bool) -> Iterator[Finding]:
    if not isinstance(user, str) or user in ("", submitter):
        return
    if user not in known.users:
        yield Finding(("user",), unknown_name("user", user))
    elif not is_admin:
        yield Finding(("user",), f'only an admin may submit a job for "{user}"')


def _group(group: Any, known: KnownNames, submitter: str, *, is_admin: bool) -> Iterator[Finding]:
    if not isinstance(group, str) or not group:
        return
    if group not in known.groups:
        yield Finding(("group",), unknown_name("group", group))
    elif not is_admin and submitter not in known.groups[group]:
        yield Finding(("group",), f'{submitter} is not a member of group "{group}"')


def _filter_names(path: Path, readings: Mapping[str, Reading], known: KnownNames) -> Iterator[Finding]:
    for field, reading in readings.items():
        for mention in reading.mentions:
            if not known.knows(mention.kind, mention.name):
                where = (*path, field, *mention.path)
                yield Finding(where, unknown_name(_KINDS[mention.kind], mention.name))


def _pool_names(path: Path, autopick: Any, known: KnownNames) -> Iterator[Finding]:
    pools = autopick.get("pools") if isinstance(autopick, Mapping) else None
    for index, pool in enumerate(pools if isinstance(pools, list) else ()):
        if isinstance(pool, str) and pool not in known.pools:
            yield Finding((*path, "autopick", "pools", index), unknown_name("pool", pool))


def _distro_names(path: Path, distro: Any, known: KnownNames) -> Iterator[Finding]:
    """A distro of one's own is for an architecture that some system has."""
    arch = distro.get("arch") if isinstance(distro, Mapping) else None
    if isinstance(arch, str) and arch and not known.knows("arches", arch):
        yield Finding((*path, "distro", "arch"), unknown_name("arch", arch))
