"""Checks of the names in a job: whether they exist, and whether the submitter may use them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from domain.directory.name_index import NameIndex
from domain.errors import WORDS, unknown_name
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

# The field of a requirement, and the kind of thing that the requirement selects.
_SELECTED: Final = {"distro_requires": "distro tree", "host_requires": "system"}

ParsedRecipe = tuple[Path, Mapping[str, Any], Mapping[str, ParsedRequirement]]
"""The path of a recipe in its document, the recipe, and its parsed requirements by field."""


class UnknownName(NamedTuple):
    """An unknown name in a recipe. `kind` is a field of `NameIndex`, `effect` a sentence for people."""

    path: Path
    kind: str
    name: str
    effect: str

    @property
    def message(self) -> str:
        return unknown_name(KINDS[self.kind], self.name)


def owner_findings(
    document: Mapping[str, Any], names: NameIndex, submitter: str, *, is_admin: bool
) -> list[Finding]:
    """Return the faults of `user`, `group` and `partition`; the other fields of the job may be invalid."""
    return [
        *_owner(document.get("user"), names, submitter, is_admin=is_admin),
        *_group(document.get("group"), names, submitter, is_admin=is_admin),
        *_partition(document.get("partition"), names),
    ]


def _partition(name: Any, names: NameIndex) -> Iterator[Finding]:
    if isinstance(name, str) and name not in names.partitions:
        existing = ", ".join(sorted(names.partitions))
        yield Finding(("partition",), f"{unknown_name('partition', name)}; the partitions are {existing}")


def unknown_names(recipes: Iterable[ParsedRecipe], names: NameIndex) -> Iterator[UnknownName]:
    """Yield the unknown names in requirements, preferred pools and custom distros of recipes."""
    for path, recipe, requirements in recipes:
        yield from _unknown_in_requirements(path, requirements, names)
        yield from _unknown_pools(path, recipe.get("autopick"), names)
        yield from _unknown_arch(path, recipe.get("distro"), names)


def recipes_of(document: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield the recipes of a document with their paths, each host before its guests; skip invalid parts."""
    for set_path, recipe_set in objects(document, (), "recipe_sets"):
        for path, recipe in objects(recipe_set, set_path, "recipes"):
            yield path, recipe
            yield from objects(recipe, path, "guests")


def objects(parent: Mapping[str, Any], path: Path, field: str) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield the items of a list field that are objects, with their paths."""
    items = parent.get(field)
    for index, item in enumerate(items if isinstance(items, list) else ()):
        if isinstance(item, Mapping):
            yield (*path, field, index), item


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


def _unknown_in_requirements(
    path: Path, requirements: Mapping[str, ParsedRequirement], names: NameIndex
) -> Iterator[UnknownName]:
    for field, requirement in requirements.items():
        for mention in requirement.mentions:
            if not names.has(mention.kind, mention.name):
                effect = f"This part matches {_matched(mention, _SELECTED[field])}"
                yield UnknownName((*path, field, *mention.path), mention.kind, mention.name, effect)


def _matched(mention: Mention, selected: str) -> str:
    """Return the distro trees or systems (`selected`) that match a part with an unknown name, in words."""
    if not mention.excludes:
        return f"no {selected}"
    return f"every {selected} that has another {WORDS[KINDS[mention.kind]]}"


def _unknown_pools(path: Path, autopick: Any, names: NameIndex) -> Iterator[UnknownName]:
    pools = autopick.get("pools") if isinstance(autopick, Mapping) else None
    for index, pool in enumerate(pools if isinstance(pools, list) else ()):
        if isinstance(pool, str) and pool not in names.pools:
            yield UnknownName((*path, "autopick", "pools", index), "pools", pool, "It prefers no system")


def _unknown_arch(path: Path, distro: Any, names: NameIndex) -> Iterator[UnknownName]:
    """Yield the architecture of a custom distro if neither a system nor a distro tree has it."""
    arch = distro.get("arch") if isinstance(distro, Mapping) else None
    if isinstance(arch, str) and arch and not names.has("arches", arch):
        yield UnknownName((*path, "distro", "arch"), "arches", arch, "No system can install this distro")
