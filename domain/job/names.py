"""The names that a job uses: unknown ones, and ones that its submitter may not use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from domain.directory.name_index import NameIndex
from domain.names import WORDS, unknown_name
from domain.requirements.findings import Finding, Path
from domain.requirements.language import ParsedRequirement
from domain.requirements.leaves import Mention

KINDS: Final = {
    "users": "user",
    "pools": "pool",
    "arches": "arch",
    "keys": "key",
    "lab_controllers": "lab-controller",
    "systems": "system",
    "power_types": "power-type",
}

# Requirement -> the kind of thing that it selects.
_CHOSEN: Final = {"distro_requires": "distro tree", "host_requires": "system"}

Named = tuple[Path, Mapping[str, Any], Mapping[str, ParsedRequirement]]
"""A recipe with its path, and its parsed requirements by field."""


class UnknownName(NamedTuple):
    """An unknown name in a requirement or preference. `kind` is a field of `NameIndex`."""

    path: Path
    kind: str
    name: str
    effect: str

    @property
    def message(self) -> str:
        return unknown_name(KINDS[self.kind], self.name)


def check_owners(
    document: Mapping[str, Any], names: NameIndex, submitter: str, *, is_admin: bool
) -> list[Finding]:
    """Return the faults of the user and the group of a job; the rest of the document need not be valid."""
    return [
        *_owner(document.get("user"), names, submitter, is_admin=is_admin),
        *_group(document.get("group"), names, submitter, is_admin=is_admin),
    ]


def unknown_names(recipes: Iterable[Named], names: NameIndex) -> Iterator[UnknownName]:
    """Yield the unknown names; the recipes need not be valid otherwise."""
    for path, recipe, readings in recipes:
        yield from _filter_names(path, readings, names)
        yield from _pool_names(path, recipe.get("autopick"), names)
        yield from _distro_names(path, recipe.get("distro"), names)


def recipes_of(document: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield the recipes of a document, which need not be valid, with their paths, each before its guests."""
    for set_path, recipe_set in objects(document, (), "recipe_sets"):
        for path, recipe in objects(recipe_set, set_path, "recipes"):
            yield path, recipe
            yield from objects(recipe, path, "guests")


def objects(parent: Mapping[str, Any], path: Path, field: str) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield the items of a list that are objects, with their paths."""
    members = parent.get(field)
    for index, member in enumerate(members if isinstance(members, list) else ()):
        if isinstance(member, Mapping):
            yield (*path, field, index), member


def _owner(user: Any, names: NameIndex, submitter: str, *, is_admin: bool) -> Iterator[Finding]:
    if not isinstance(user, str) or user in ("", submitter):
        return
    if user not in names.users:
        yield Finding(("user",), unknown_name("user", user))
    elif not is_admin:
        yield Finding(("user",), f'only an admin may submit a job for "{user}"')


def _group(group: Any, names: NameIndex, submitter: str, *, is_admin: bool) -> Iterator[Finding]:
    if not isinstance(group, str) or not group:
        return
    if group not in names.groups:
        yield Finding(("group",), unknown_name("group", group))
    elif not is_admin and submitter not in names.groups[group]:
        yield Finding(("group",), f'{submitter} is not a member of group "{group}"')


def _filter_names(
    path: Path, readings: Mapping[str, ParsedRequirement], names: NameIndex
) -> Iterator[UnknownName]:
    for field, reading in readings.items():
        what = _CHOSEN[field]
        for mention in reading.mentions:
            if not names.has(mention.kind, mention.name):
                effect = f"This part matches {_matched(mention, what)}"
                yield UnknownName((*path, field, *mention.path), mention.kind, mention.name, effect)


def _matched(mention: Mention, what: str) -> str:
    if not mention.excludes:
        return f"no {what}"
    return f"every {what} that has another {WORDS[KINDS[mention.kind]]}"


def _pool_names(path: Path, autopick: Any, names: NameIndex) -> Iterator[UnknownName]:
    pools = autopick.get("pools") if isinstance(autopick, Mapping) else None
    for index, pool in enumerate(pools if isinstance(pools, list) else ()):
        if isinstance(pool, str) and pool not in names.pools:
            yield UnknownName((*path, "autopick", "pools", index), "pools", pool, "It prefers no system")


def _distro_names(path: Path, distro: Any, names: NameIndex) -> Iterator[UnknownName]:
    """Yield the architecture of a custom distro if no system has it."""
    arch = distro.get("arch") if isinstance(distro, Mapping) else None
    if isinstance(arch, str) and arch and not names.has("arches", arch):
        yield UnknownName((*path, "distro", "arch"), "arches", arch, "No system can install this distro")
