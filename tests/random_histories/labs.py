"""Random labs: lab controllers, distro trees, pools and few systems, for which recipes compete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from domain.admission.configuration import configuration_to_json, stored_configuration
from domain.directory import events as directory_events
from domain.directory.partitions import PARTITION
from domain.events import Decided
from domain.system_admin.registration import register

LABS = ("lab-1", "lab-2", "lab-3")
POOLS = ("net", "gpu")
NAMES = tuple(f"m{number}" for number in range(1, 9))
ARCHES = ("x86_64", "aarch64")
TREES = {1: "x86_64", 2: "x86_64", 3: "aarch64"}
USERS = ("admin", "ada", "bob")
CONDITIONS = ("Automated", "Manual", "Broken", "Removed")

MEMORY_MB = (1024, 16384)
EXCLUDED = {"arch": "x86_64", "family": "Fedora", "version": None}

memory_mb = st.sampled_from(MEMORY_MB)
some_labs = st.lists(st.sampled_from(LABS), unique=True)
systems = st.fixed_dictionaries(
    {
        "lab_controller": st.sampled_from((*LABS[:1] * 5, *LABS)),
        "condition": st.sampled_from(("Automated",) * 12 + CONDITIONS),
        "pools": st.lists(st.sampled_from(POOLS), unique=True),
        "memory_mb": memory_mb,
        "arches": st.sampled_from(
            (["x86_64"], ["x86_64"], ["x86_64"], ["x86_64"], list(ARCHES), list(ARCHES), ["aarch64"])
        ),
        "excluded_families": st.sampled_from(([], [], [], [EXCLUDED])),
        "owner": st.sampled_from(USERS),
    }
)


SOUGHT_AFTER = {
    "lab_controller": "lab-1",
    "condition": "Automated",
    "pools": list(POOLS),
    "memory_mb": max(MEMORY_MB),
    "arches": list(ARCHES),
    "excluded_families": [],
    "owner": "admin",
}


def document(number: int, drawn: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document of a new system; `number` counts the systems of its lab."""
    return {**drawn, "fqdn": NAMES[number], "type": "Machine"}


def tree(tree_id: int, labs: Sequence[str]) -> dict[str, Any]:
    """Return the document of a distro tree that is in these labs."""
    return {
        "name": f"tree-{tree_id}",
        "family": "Fedora" if tree_id == 2 else "RHEL",
        "version": "9",
        "arch": TREES[tree_id],
        "variant": "Server",
        "tags": [],
        "urls": {lab: [f"http://{lab}/"] for lab in labs},
        "added_at": "2026-01-01T00:00:00Z",
    }


# The first is the default; with few systems only a low bound on overtakings is reached.
ORDERS: tuple[dict[str, Any], ...] = (
    {},
    {"most_overtaken": 0},
    {"most_overtaken": 1},
    {"most_overtaken": 1, "assigned_first": "always"},
)


def _beginning(
    disabled: str | None, places: Sequence[Sequence[str]], drawn: Sequence[Any], order: dict[str, Any]
) -> Decided:
    decided: Decided = [(f"user/{name}", directory_events.UserRegistered()) for name in USERS]
    if order:
        configuration = configuration_to_json(stored_configuration({"order": order}))
        decided.append((PARTITION, directory_events.PartitionConfigured(configuration=configuration)))
    for name in LABS:
        registered = directory_events.LabControllerRegistered(enabled=name != disabled)
        decided.append((f"lab-controller/{name}", registered))
    for tree_id, labs in zip(TREES, (LABS, *places), strict=True):
        registered = directory_events.DistroTreeRegistered(**tree(tree_id, labs))
        decided.append((f"distro-tree/{tree_id}", registered))
    decided += [(f"pool/{name}", directory_events.PoolRegistered(owner_group=None)) for name in POOLS]
    # Most recipes fit this system: otherwise most jobs would be aborted at once.
    for number, system in enumerate([SOUGHT_AFTER, *drawn]):
        decided += register(document(number, system))
    return decided


beginnings = st.builds(
    _beginning,
    st.sampled_from((None,) * 7 + LABS),
    st.tuples(*(some_labs.map(lambda labs: ["lab-1", *labs]) for _ in range(2))),
    st.lists(systems, min_size=1, max_size=4),
    st.sampled_from(ORDERS),
)
