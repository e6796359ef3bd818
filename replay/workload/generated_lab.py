"""A generated lab of any size, in the format of `samples/lab.json`. Equal seeds give equal labs."""

from __future__ import annotations

from itertools import combinations
from random import Random
from typing import Any

from replay.workload.generated_machines import machine

Document = dict[str, Any]

PEOPLE = ("alice", "bob", "carol")
GROUPS = ("kernel-qe", "net-qe", "storage-qe", "virt-qe")
# Pool -> the group that owns it, and the maximum priority of jobs of other groups there.
POOLS = {
    "big": ("kernel-qe", "Medium"),
    "small": ("kernel-qe", "Urgent"),
    "other-arches": ("net-qe", "Urgent"),
    "fast-network": ("net-qe", "High"),
    "storage": ("storage-qe", "Low"),
    "virt": ("virt-qe", "Normal"),
}
# Name, family, version. The first one is in every lab.
DISTROS = (
    ("RHEL-9.6", "RedHatEnterpriseLinux9", "6"),
    ("RHEL-10.2", "RedHatEnterpriseLinux10", "2"),
    ("Fedora-44", "Fedora44", "0"),
)
ARCHES = ("x86_64", "aarch64", "ppc64le", "s390x")
# Percent of distro trees, except the first, that a lab mirrors.
MIRRORED_PERCENT = 80
# Trees have ids from here on, in a range for each seed; lower ids are for trees of other labs.
FIRST_TREE_ID, TREES_OF_A_SEED, SEEDS = 1000, 20, 1_000_000


def generate_lab(seed: int, labs: int, systems: int) -> Document:
    """Return a lab document: lab controllers, users, groups, pools, distro trees, systems.

    Every lab controller has some of the systems, if there are at least as many systems as labs. All names
    differ, also from those of other seeds and of the sample lab, so that they can be loaded together. Users
    are shared.
    """
    chance = Random(f"lab/{seed}")
    site = f"s{seed % SEEDS}"
    fqdns = [f"lab.{site}-{number:02}.example.com" for number in range(1, labs + 1)]
    # No two groups have the same members.
    teams = [team for size in (1, 2) for team in combinations(PEOPLE, size)]
    return {
        "lab_controllers": [{"fqdn": fqdn, "enabled": True} for fqdn in fqdns],
        "users": [{"name": name} for name in (*PEOPLE, "lab-ops")],
        "groups": [
            _group(f"{site}-{name}", chance.sample(team, len(team)))
            for name, team in zip(GROUPS, chance.sample(teams, len(GROUPS)), strict=True)
        ],
        "pools": [_pool(site, name) for name in POOLS],
        "distro_trees": _trees(seed, site, fqdns, chance),
        "systems": [
            _system(site, machine(number, fqdns[number % labs], PEOPLE, Random(f"lab/{seed}/{number}")))
            for number in range(systems)
        ],
    }


def _system(site: str, system: Document) -> Document:
    return {**system, "pools": [f"{site}-{pool}" for pool in system["pools"]]}


def _group(name: str, members: list[str]) -> Document:
    return {"name": name, "owners": members[:1], "members": members}


def _pool(site: str, name: str) -> Document:
    group, everybody = POOLS[name]
    owner = f"{site}-{group}"
    return {
        "name": f"{site}-{name}",
        "owner_group": owner,
        "access_policy": [
            {"permission": "submit", "group": owner, "maximum_effective_priority": "Urgent"},
            {"permission": "submit", "everybody": True, "maximum_effective_priority": everybody},
        ],
    }


def _trees(seed: int, site: str, fqdns: list[str], chance: Random) -> list[Document]:
    kinds = [(distro, arch) for distro in DISTROS for arch in ARCHES]
    first = FIRST_TREE_ID + seed % SEEDS * TREES_OF_A_SEED
    return [_tree(number, site, *kind, fqdns, chance) for number, kind in enumerate(kinds, start=first)]


def _tree(
    number: int, site: str, distro: tuple[str, str, str], arch: str, fqdns: list[str], chance: Random
) -> Document:
    """Return a distro tree without the RELEASED tag, so that jobs that require it never get the tree."""
    name, family, version = distro
    kept = distro == DISTROS[0]
    mirrors = [fqdn for fqdn in fqdns if kept or chance.random() * 100 < MIRRORED_PERCENT]
    return {
        "id": number,
        "name": f"{name}-{site}",
        "family": family,
        "version": version,
        "arch": arch,
        "variant": "Server",
        "tags": ["MADE-UP"],
        "urls": {fqdn: [f"http://{fqdn}/distros/{name}/{arch}/"] for fqdn in mirrors},
        "added_at": f"2026-{1 + number % 9:02}-01T00:00:00Z",
    }
