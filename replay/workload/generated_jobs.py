"""Generated jobs that fit a lab: each recipe requires properties that some system of the lab has."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

from replay.workload.generated_requirements import distro_requires, host_requires

Document = dict[str, Any]

PRIORITIES = ("Low", "Medium", "Normal", "High", "Urgent")
# Weights of the priorities: most people pick Normal.
PRIORITY_SHARES = (15, 20, 40, 15, 10)
TASKS = ("/distribution/check-install", "/kernel/smoke", "/kernel/stress", "/net/throughput", "/storage/fio")
MAX_SET_SIZE = 4
GROUP_SHARE = 0.4
WHEN = ("always", "onwarn", "onfail", "onabort")


class Fitting:
    """The systems of a lab document for which jobs can be generated, and their distro trees."""

    def __init__(self, lab: Document) -> None:
        self.groups = [str(group["name"]) for group in lab["groups"]]
        self._trees = lab["distro_trees"]
        self.all = [system for system in lab["systems"] if self.trees(system)]
        self.usable = [system for system in self.all if _is_ordinary(system)]
        self.by_lab = defaultdict[str, list[Document]](list)
        for system in self.usable:
            self.by_lab[system["lab_controller"]].append(system)
        self.hosts = [system for system in self.usable if "HVM" in (system.get("key_values") or {})]

    def trees(self, system: Document) -> list[Document]:
        """Return the trees with the system's arch, in its lab, and not excluded."""
        excluded = {one["family"] for one in system.get("excluded_families") or ()}
        return [
            tree
            for tree in self._trees
            if tree["arch"] in system["arches"]
            and system["lab_controller"] in tree["urls"]
            and tree["family"] not in excluded
        ]


def generate_jobs(lab: Document, seed: int, count: int) -> Iterator[Document]:
    """Yield jobs as JSON, of the kinds in `KINDS`; none for a lab without an Automated system."""
    fitting = Fitting(lab)
    for number in range(count if fitting.usable else 0):
        chance = Random(f"jobs/{seed}/{number}")
        kind = chance.choices(list(KINDS), weights=[share for share, _ in KINDS.values()])[0]
        recipes = KINDS[kind][1](fitting, chance)
        job = {
            "whiteboard": f"generated {number}: {kind}",
            "recipe_sets": [{"priority": chance.choices(PRIORITIES, PRIORITY_SHARES)[0], "recipes": recipes}],
        }
        in_group = fitting.groups and chance.random() < GROUP_SHARE
        yield {**job, "group": chance.choice(fitting.groups)} if in_group else job


def _is_ordinary(system: Document) -> bool:
    return (system["condition"], system.get("type")) == ("Automated", "Machine")


def _single(fitting: Fitting, chance: Random) -> list[Document]:
    return [_recipe(chance.choice(fitting.usable), fitting, chance)]


def _together(fitting: Fitting, chance: Random) -> list[Document]:
    """Return recipes for different systems of one lab, so that the set can start."""
    labs = [systems for systems in fitting.by_lab.values() if len(systems) > 1]
    if not labs:
        return _single(fitting, chance)
    systems = chance.choice(labs)
    picked = chance.sample(systems, chance.randint(2, min(MAX_SET_SIZE, len(systems))))
    roles = ["SERVERS"] + ["CLIENTS"] * (len(picked) - 1)
    return [{**_recipe(one, fitting, chance), "role": role} for one, role in zip(picked, roles, strict=True)]


def _with_guests(fitting: Fitting, chance: Random) -> list[Document]:
    if not fitting.hosts:
        return _single(fitting, chance)
    system = chance.choice(fitting.hosts)
    recipe = _recipe(system, fitting, chance)
    virtual = {"element": "key_value", "key": "HVM", "op": "=", "value": "1"}
    recipe["host_requires"] = {"and": [*recipe["host_requires"]["and"], virtual]}
    guests = [_guest(number, system, fitting, chance) for number in range(1, chance.randint(1, 3) + 1)]
    return [{**recipe, "guests": guests}]


def _guest(number: int, system: Document, fitting: Fitting, chance: Random) -> Document:
    return {
        "guestname": f"guest{number}",
        "guestargs": f"--ram={chance.choice((1024, 2048))} --vcpus=2",
        "whiteboard": f"guest {number}",
        "distro_requires": distro_requires(chance.choice(fitting.trees(system))),
        "host_requires": {},
        "tasks": _tasks(chance),
    }


def _forced(fitting: Fitting, chance: Random) -> list[Document]:
    """Return a recipe that forces one system, whatever its condition."""
    system = chance.choice(fitting.all)
    return [{**_recipe(system, fitting, chance), "host_requires": {"force": system["fqdn"]}}]


def _kept(fitting: Fitting, chance: Random) -> list[Document]:
    kept = {"duration_seconds": chance.choice((60, 300, 3600)), "when": chance.choice(WHEN)}
    return [{**recipe, "reservesys": kept} for recipe in _single(fitting, chance)]


# Kind -> its weight and its maker.
KINDS: dict[str, tuple[int, Callable[[Fitting, Random], list[Document]]]] = {
    "single": (50, _single),
    "together": (20, _together),
    "guests": (12, _with_guests),
    "forced": (8, _forced),
    "kept": (10, _kept),
}


def _recipe(system: Document, fitting: Fitting, chance: Random) -> Document:
    return {
        "whiteboard": f"like {system['fqdn'].partition('.')[0]}",
        "autopick": _autopick(system, chance),
        "distro_requires": distro_requires(chance.choice(fitting.trees(system))),
        "host_requires": host_requires(system, chance),
        "tasks": _tasks(chance),
    }


def _autopick(system: Document, chance: Random) -> Document:
    pools: Sequence[str] = system.get("pools") or ()
    picked = chance.sample(pools, len(pools)) if chance.random() < 0.4 else []
    return {"random": chance.random() < 0.2, "pools": picked}


def _tasks(chance: Random) -> list[Document]:
    more = chance.sample(TASKS[1:], chance.randint(1, 3))
    return [{"name": name, "params": {}} for name in (TASKS[0], *more)]
