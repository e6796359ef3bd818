"""The names a job uses that nobody knows, or that its submitter may not use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from domain.job.spec import KnownNames
from domain.requirements.findings import Finding, Path
from domain.requirements.host import HOST

_SINGULAR: Final = {"pools": "pool", "arches": "architecture", "keys": "key", "systems": "system"}


def check_names(
    document: Mapping[str, Any], known: KnownNames, submitter: str, *, is_admin: bool
) -> list[Finding]:
    """All of them. The document may be faulty otherwise: what is not where it belongs is passed over."""
    findings = [*_owner(document.get("user"), known, submitter, is_admin=is_admin)]
    findings += _group(document.get("group"), known, submitter, is_admin=is_admin)
    for path, recipe in recipes_of(document):
        findings += _filter_names(path, recipe.get("host_requires"), known)
        findings += _pool_names(path, recipe.get("autopick"), known)
    return findings


def recipes_of(document: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """The recipes of a document that need not be sound, each with its path."""
    for set_path, recipe_set in _objects(document, ("recipe_sets",)):
        for path, recipe in _objects(recipe_set, ("recipes",)):
            yield (*set_path, *path), recipe


def _objects(parent: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    members = parent.get(str(path[-1]))
    for index, member in enumerate(members if isinstance(members, list) else ()):
        if isinstance(member, Mapping):
            yield (*path, index), member


def _owner(user: Any, known: KnownNames, submitter: str, *, is_admin: bool) -> Iterator[Finding]:
    if not isinstance(user, str) or user == submitter:
        return
    if user not in known.users:
        yield Finding(("user",), f'there is no user "{user}"')
    elif not is_admin:
        yield Finding(("user",), f'only an admin may submit a job for "{user}"')


def _group(group: Any, known: KnownNames, submitter: str, *, is_admin: bool) -> Iterator[Finding]:
    if not isinstance(group, str):
        return
    if group not in known.groups:
        yield Finding(("group",), f'there is no group "{group}"')
    elif not is_admin and submitter not in known.groups[group]:
        yield Finding(("group",), f'{submitter} is not a member of group "{group}"')


def _filter_names(path: Path, form: Any, known: KnownNames) -> Iterator[Finding]:
    if not isinstance(form, Mapping):
        return
    for mention in HOST.examine(form).mentions:
        if not known.knows(mention.kind, mention.name):
            where = (*path, "host_requires", *mention.path)
            yield Finding(where, f'there is no {_SINGULAR[mention.kind]} "{mention.name}"')


def _pool_names(path: Path, autopick: Any, known: KnownNames) -> Iterator[Finding]:
    pools = autopick.get("pools") if isinstance(autopick, Mapping) else None
    for index, pool in enumerate(pools if isinstance(pools, list) else ()):
        if isinstance(pool, str) and pool not in known.pools:
            yield Finding((*path, "autopick", "pools", index), f'there is no pool "{pool}"')
