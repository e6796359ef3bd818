"""Long random histories from one seed; `python -m tests.domain.scheduling.history` prints their digests.

A digest covers every event of the log, including decisions. So two processes that print the same digests made
the same decisions, whatever their PYTHONHASHSEED.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from itertools import product
from random import Random
from typing import Any

from domain.access.policy import Form
from domain.admission.configuration import ALWAYS, WITHIN_PRIORITY
from domain.admission.dependencies import FINAL_STATES
from domain.admission.job_filters import ACCEPT, CONTINUE, PAUSE, RATE_LIMITED, REJECT
from domain.contention.documents import locks_from_json, locks_to_json
from domain.contention.locks import LEVELS, NO_LOCKS
from domain.directory import partition_states
from domain.directory.partition_states import START, STOP
from domain.directory.partitions import partition_document
from domain.errors import Refused
from domain.events import data_of
from domain.intake_states import STOPPED
from domain.maintenance.window import KIND as WINDOW
from domain.priority import Priority
from domain.queues.tree import FIFO, ORDERS_OF_LEAVES, ORDERS_OF_PARENTS
from domain.scheduling.bitsets.bitmaps import numbers_in
from domain.scheduling.supply.labs import Labs
from tests.domain.scheduling.host_requirements import ALL, forces, named
from tests.domain.scheduling.policies import everybody, group, user
from tests.domain.scheduling.world import World

LABS = ("lab-1", "lab-2", "lab-3")
POOLS = ("net", "gpu")
GROUPS = ("qe", "virt")
PEOPLE = ("ada", "eve", "bob")
REASONS = ("a", "b", "rate-limit:1:c", "rate-limit:2:d")
RULES = ("first", "second", "third")
QUEUES = ("root.a.b", "root.a.c", "root.people.ada", "root.default")
LOCKS: tuple[Any, ...] = (
    "UnknownShared",
    "AllShared",
    "UnknownExclusive",
    {"Shared": ["x"]},
    {"Shared": ["y", "$system"]},
    {"Exclusive": ["x"]},
    {"Exclusive": ["$pools"]},
)

Acts = tuple[tuple[Callable[[Random, World], None], int], ...]
"""Actions with their frequencies."""


def live(seed: int, bursts: int, limit: int, acts: Acts = ()) -> World:
    """Return a world after bursts of actions, each answered completely, with `limit` decisions per commit."""
    chance, world = Random(seed), begin(seed)
    for _ in range(bursts):
        burst(chance, world, acts)
        world.settle(limit)
    return world


def begin(seed: int) -> World:
    """Return a world with three labs, one possibly disabled, two trees and a few systems."""
    chance, world = Random(seed), World()
    for lab in LABS:
        world.add_lab(lab, enabled=lab != "lab-3" or chance.random() < 0.5)
    world.put_tree(1, "x86_64", LABS)
    world.put_tree(2, "aarch64", LABS[:2])
    for _ in range(4):
        _register(chance, world)
    return world


def burst(chance: Random, world: World, acts: Acts = ()) -> None:
    chosen, weights = zip(*(acts or ACTS), strict=True)
    for act in chance.choices(chosen, weights, k=chance.randrange(1, 8)):
        # A refused action has no effect.
        with suppress(Refused):
            act(chance, world)


def _register(chance: Random, world: World) -> None:
    if len(world.systems) >= 16:
        return
    world.add_system(
        f"m{chance.randrange(10**6)}-{len(world.systems)}",
        chance.choice(LABS),
        chance.choice(("Automated", "Automated", "Automated", "Broken")),
        [pool for pool in POOLS if chance.random() < 0.5],
        arches=chance.sample(("x86_64", "aarch64"), chance.randrange(1, 3)),
        memory_mb=chance.choice((1024, 16384)),
    )


def _submit(
    chance: Random,
    world: World,
    people: Sequence[str] = PEOPLE[:2],
    group: str | None = None,
    **new: Any,
) -> None:
    count = chance.choice((1, 1, 2, 2, 3))
    world.submit_set(
        [_want(chance, world) for _ in range(count)],
        chance.choice((1, 1, 2)),
        chance.choice(list(Priority)).name,
        {place: [chance.choice((1, 2))] for place in range(count) if chance.random() < 0.2},
        owner=chance.choice(people),
        group=group,
        autopick_random=chance.random() < 0.2,
        autopick_pools=chance.sample(POOLS, chance.randrange(3)),
        **new,
    )


def _submit_with_locks(chance: Random, world: World, **new: Any) -> None:
    locks = {level: chance.choice(LOCKS) for level in chance.sample(LEVELS, 2)}
    declared = locks_from_json({**locks, "whole_lab": chance.random() < 0.05}, "locks")
    # Events have the canonical document: `stored_locks` would take false for true.
    _submit(chance, world, locks=locks_to_json(declared), **new)


def _narrow(chance: Random, world: World) -> None:
    holders = [recipe for recipe in world.recipes.values() if recipe.started and recipe.held != NO_LOCKS]
    if holders:
        recipe = chance.choice(holders)
        assert recipe.held is not None
        kept = locks_to_json(recipe.held)
        del kept[chance.choice(list(kept))]
        world.narrow(recipe.recipe_id, kept)


def _want(chance: Random, world: World) -> str:
    if chance.random() < 0.1:
        return forces(_any_system(chance, world))
    if chance.random() < 0.3:
        return named(*(_any_system(chance, world) for _ in range(3)))
    return chance.choice(ALL).text


def _any_system(chance: Random, world: World) -> str:
    return chance.choice(list(world.systems))


def _end(chance: Random, world: World) -> None:
    if started := world.in_state("waiting", "installing", "running"):
        hosts = [recipe.recipe_id for recipe in started if not recipe.is_guest]
        chance.choice((world.complete, world.complete, world.abort))(chance.choice(hosts))


def _cancel(chance: Random, world: World) -> None:
    if unfinished := [recipe for recipe in world.recipes.values() if not recipe.finished]:
        world.cancel(chance.choice(unfinished).recipe_id)


def _change_priority(chance: Random, world: World) -> None:
    if waiting := world.in_state("new", "queued", "assigned"):
        world.change_priority(chance.choice(waiting).recipe_id, chance.choice(list(Priority)).name)


def _condition(chance: Random, world: World) -> None:
    condition = chance.choice(("Automated", "Automated", "Automated", "Manual", "Broken", "Removed"))
    world.set_condition(_any_system(chance, world), condition)


def _of_one_system(act: Callable[[World, str], None]) -> Callable[[Random, World], None]:
    return lambda chance, world: act(world, _any_system(chance, world))


def _change_pool(chance: Random, world: World) -> None:
    pool, fqdn = chance.choice(POOLS), _any_system(chance, world)
    world.set_pool(pool, fqdn, not world.directory.pool_has(pool, fqdn))


def _describe(chance: Random, world: World) -> None:
    world.describe(_any_system(chance, world), memory_mb=chance.choice((1024, 16384)))


def _move(chance: Random, world: World) -> None:
    world.move(_any_system(chance, world), chance.choice(LABS))


def _change_tree(chance: Random, world: World) -> None:
    number = chance.choice((1, 2))
    world.put_tree(number, ("x86_64", "aarch64")[number - 1], chance.sample(LABS, chance.randrange(1, 4)))


def _switch_lab(chance: Random, world: World) -> None:
    lab, is_serving = chance.choice(LABS), chance.random() < 0.8
    if chance.random() < 0.5:
        world.enable(lab, is_serving)
    elif is_serving:
        world.hear(lab)
    else:
        world.fall_silent(lab)


def _submit_for_group(chance: Random, world: World) -> None:
    _submit(chance, world, PEOPLE, chance.choice(GROUPS))


def _change_group(chance: Random, world: World) -> None:
    name = chance.choice(GROUPS)
    if chance.random() < 0.1 and world.directory.get("group", name):
        world.remove_group(name)
    world.put_group(name, *chance.sample(PEOPLE, chance.randrange(len(PEOPLE) + 1)))


def _open_pool(chance: Random, world: World) -> None:
    world.open_pool(chance.choice(POOLS), *_entries(chance))


def _open_system(chance: Random, world: World) -> None:
    world.open_system(_any_system(chance, world), *_entries(chance))


def _entries(chance: Random) -> list[Form]:
    """Return policy entries: mostly everybody may submit, with different maxima."""
    maxima = [priority.name for priority in Priority]
    found = [group(name, chance.choice(maxima)) for name in GROUPS if chance.random() < 0.4]
    found += [user(name, chance.choice(maxima)) for name in PEOPLE if chance.random() < 0.1]
    return [*found, everybody(chance.choice(maxima))] if chance.random() < 0.9 else found


def _lend(chance: Random, world: World) -> None:
    fqdn = _any_system(chance, world)
    if world.systems[fqdn].loan is not None:
        world.end_loan(fqdn)
    elif chance.random() < 0.4:
        world.lend(fqdn, chance.choice(PEOPLE))


def _own(chance: Random, world: World) -> None:
    world.own(_any_system(chance, world), chance.choice(PEOPLE))


def _configure(chance: Random, world: World) -> None:
    world.configure(order={"assigned_first": chance.choice((WITHIN_PRIORITY, ALWAYS))})


def _configure_weights(chance: Random, world: World) -> None:
    world.configure(weights={"enabled": chance.random() < 0.8, "base": chance.choice((0, 1, 2.5))})


def _configure_locks(chance: Random, world: World) -> None:
    world.configure(locks={"most_overtaken": chance.choice((0, 1, 8))})


def _submit_dependent(chance: Random, world: World) -> None:
    """Submit a set that depends on one or two of the last sets and jobs."""
    if not world.sets:
        return
    states = chance.choice((("completed", "aborted"), ("completed",), FINAL_STATES, ("cancelled",)))
    named = chance.choices([*world.sets.values()][-8:], k=chance.randint(1, 2))
    numbers = [chance.choice(({"job": one.job_id}, {"recipe_set": one.recipe_set_id})) for one in named]
    depends_on = [{**number, "states": states} for number in numbers]
    _submit(chance, world, submitted={"depends_on": depends_on, "reasons": chance.sample(REASONS, 1)})


def _submit_for_job(chance: Random, world: World) -> None:
    """Submit two sets of one job."""
    job_id = len(world.sets) + 1
    _submit(chance, world, job_id=job_id)
    _submit(chance, world, job_id=job_id)


def _put_job_filter(chance: Random, world: World) -> None:
    predicates = (
        None,
        {"field": "user", "op": "=", "value": chance.choice(PEOPLE)},
        {"field": "priority", "op": ">=", "value": chance.choice(list(Priority)).name},
        {"field": "reason", "op": "in", "value": chance.sample(REASONS, 2)},
        {"field": "job_id", "op": "<=", "value": "watermark"},
    )
    action = chance.choice((ACCEPT, CONTINUE, PAUSE, PAUSE, REJECT, RATE_LIMITED, RATE_LIMITED))
    world.put_job_filter(
        chance.choice(RULES),
        action,
        len(world.sets),
        limit=chance.randint(1, 3) if action == RATE_LIMITED else None,
        priority=chance.randrange(2),
        predicate=chance.choice(predicates),
    )


def _configure_limits(chance: Random, world: World) -> None:
    world.configure(limits={"placed_recipes": chance.choice((None, 1, 3, 4, 6))}, claims=_claims(chance))


def _claims(chance: Random) -> dict[str, Any]:
    """Return a section with which recipes claim by their age, half of the time."""
    return {"after_ticks": chance.choice((None, None, 0, 2)), "for_ticks": chance.choice((1, 10, 120))}


def _configure_queues(chance: Random, world: World, **order_section: Any) -> None:
    """Configure maxima and orders on every level, and sometimes a vanished or stopped queue."""

    def order(orders: Sequence[str]) -> str:
        return chance.choice(orders) if has_orders else FIFO

    def maxima(**more: Any) -> dict[str, Any]:
        chosen = {"max": chance.choice((None, 2, 4, 6)), "max_jobs": chance.choice((None, None, 1, 2))}
        orders = ORDERS_OF_PARENTS if "queues" in more else ORDERS_OF_LEAVES
        turns = {
            "order": order(orders),
            "priority_offset": chance.choice((0, 0, 1)),
            "fence": chance.random() < 0.2,
        }
        return {**more, **chosen, **turns}

    has_orders = chance.random() < 0.7
    leaf = {"state": chance.choice(("active", "active", "active", "stopped"))}
    limits = [{"user": "*", "max": chance.randint(2, 4)}, {"group": GROUPS[0], "max_jobs": 1}]
    parent = maxima(name="a", limits=limits, queues=[maxima(name="b"), maxima(name="c", **leaf)])
    if parent["max"] is not None:
        for child in parent["queues"]:
            child["max"] = min(child["max"] or parent["max"], parent["max"])
    template = {"max": 3, "order": order(ORDERS_OF_LEAVES)}
    people: dict[str, Any] = {
        "name": "people",
        "template": template,
        "queues": [],
        "priority_offset": chance.choice((0, 1)),
    }
    tree = [parent, people] if chance.random() < 0.8 else [people]
    placed = {"placed_recipes": chance.choice((None, None, 4, 8))}
    for child in parent["queues"]:
        if chance.random() < 0.5:
            child["guaranteed"] = min(2, child["max"] or 2)
    root = {"max_jobs": chance.choice((None, 5)), "order": order(ORDERS_OF_PARENTS)}
    first = {"assigned_first": chance.choice((WITHIN_PRIORITY, WITHIN_PRIORITY, ALWAYS))}
    sections = {"limits": placed, "order": {**first, **order_section}, "claims": _claims(chance)}
    sections["preemption"] = {"enabled": chance.random() < 0.7, "after_seconds": 0, "again_after_seconds": 0}
    world.configure(queues={**root, "queues": tree}, **sections)


def _submit_with_locks_to_queue(chance: Random, world: World) -> None:
    """Submit two sets of one job, each with locks of its own or none, to a queue."""
    job_id, submitted = len(world.sets) + 1, {"queue": chance.choice(QUEUES)}
    for submit in (_submit_with_locks, chance.choice((_submit, _submit_with_locks))):
        submit(chance, world, job_id=job_id, submitted=submitted)


def _rearrange(chance: Random, world: World) -> None:
    _configure_queues(chance, world, most_overtaken=chance.choice((None, 1, 2)))


def _submit_to_queue(chance: Random, world: World) -> None:
    """Submit a set to a queue, or two sets of one job."""
    queue = chance.choice(QUEUES)
    job_id, people = len(world.sets) + 1, (chance.choice(PEOPLE),)
    group = chance.choice((None, *GROUPS))
    for _ in range(chance.choice((1, 1, 2))):
        submitted = {"queue": queue, "preemptible": chance.random() < 0.7}
        _submit(chance, world, people, group, job_id=job_id, submitted=submitted)


def _submit_in_buckets(chance: Random, world: World) -> None:
    _submit(chance, world, submitted={"reasons": chance.sample(REASONS, 2)})


def _limit_rate(chance: Random, world: World) -> None:
    predicate = {"field": "priority", "op": ">=", "value": chance.choice(list(Priority)).name}
    world.put_job_filter(
        chance.choice(RULES),
        RATE_LIMITED,
        len(world.sets),
        limit=chance.randint(1, 4),
        predicate=chance.choice((None, predicate)),
    )


def _remove_job_filter(chance: Random, world: World) -> None:
    for name in chance.sample(RULES, 2):
        world.remove_job_filter(name)


def _move_partition(chance: Random, world: World) -> None:
    """Stop the partition, if it is not stopped, otherwise start it."""
    is_stopped = partition_states.state_of(partition_document(world.directory)) == STOPPED
    world.move_partition(START if is_stopped else STOP)


def _pass_time(chance: Random, world: World) -> None:
    world.now += timedelta(seconds=chance.choice((1, 29, 30, 300, 1_000)))


def _add_window(chance: Random, world: World) -> None:
    """Add a maintenance window, or end one."""
    numbers = [int(name) for name, entry in world.directory.items(WINDOW) if "ended_at" not in entry.document]
    if numbers and chance.random() < 0.3:
        world.end_window(chance.choice(numbers))
        return
    systems = chance.sample(list(world.systems), min(3, len(world.systems)))
    covered: dict[str, Any] = chance.choice(
        ({"pool": chance.choice(POOLS)}, {"lab_controller": chance.choice(LABS)}, {"systems": systems})
    )
    times = (chance.choice((0, 300, 1_000)) for _ in range(2))
    world.add_window(*times, lead_seconds=chance.choice((0, 300)), **covered)


def _maintain(chance: Random, world: World) -> None:
    """Let time pass, and the consistency loop begin and end maintenance windows."""
    _pass_time(chance, world)
    world.settle()
    world.maintain()


# Jobs, systems and labs.
ACTS: Acts = (
    (_submit, 30),
    (_end, 30),
    (_cancel, 4),
    (_change_priority, 2),
    (_register, 5),
    (_condition, 12),
    (_of_one_system(World.drain), 2),
    (_of_one_system(World.undrain), 4),
    (_of_one_system(World.tell_running), 1),
    (_of_one_system(World.tell_vacant), 12),
    (_of_one_system(World.reserve), 4),
    (_of_one_system(World.give_back), 6),
    (_change_pool, 4),
    (_describe, 4),
    (_move, 2),
    (_change_tree, 2),
    (_switch_lab, 2),
)
# These and maintenance windows.
MAINTAINED: Acts = (*ACTS, (_add_window, 6), (_maintain, 12))
# The first and changes of access.
EVERYTHING: Acts = (
    *ACTS,
    (_submit_for_group, 30),
    (_change_group, 3),
    (_open_pool, 3),
    (_open_system, 3),
    (_lend, 4),
    (_own, 2),
)
# These and changes of the configuration.
CONFIGURED: Acts = (*EVERYTHING, (_configure, 6))
# These, resource locks and their age.
_WITH_LOCKS: Acts = ((_submit_with_locks, 40), (_narrow, 3), (_configure_locks, 2))
LOCKED: Acts = (*ACTS, *_WITH_LOCKS)
CONTENDED: Acts = (*CONFIGURED, *_WITH_LOCKS, (_configure_weights, 2), (_pass_time, 20))
# These, and a partition that is stopped half of the time.
INTERRUPTED: Acts = (*CONTENDED, (_move_partition, 15))
# Dependencies and job filters.
ADMISSION: Acts = (
    (_submit_for_job, 10),
    (_submit_dependent, 30),
    (_put_job_filter, 5),
    (_remove_job_filter, 10),
    (_configure_limits, 8),
)
ADMITTED: Acts = (*CONTENDED, *ADMISSION)
# Limits, which bind most of the time.
LIMITED: Acts = (
    *ACTS,
    (_submit_in_buckets, 40),
    (_limit_rate, 6),
    (_configure_limits, 6),
    (_remove_job_filter, 3),
    (_pass_time, 20),
    (_end, 30),
    (_register, 10),
)
# Jobs in queues, which are not configured here.
IN_QUEUES: Acts = (*LOCKED, (_submit_to_queue, 60))
# Limits, and queues with maxima, which bind most of the time, and with all orders.
QUEUED: Acts = (*LIMITED, (_configure_queues, 8), (_submit_to_queue, 80), (_end, 30))
# These, resource locks, and a tree that changes often.
REARRANGED: Acts = (
    *QUEUED,
    (_submit_with_locks_to_queue, 40),
    (_narrow, 3),
    (_configure_weights, 2),
    (_rearrange, 20),
)


def digest(world: World) -> str:
    rows = [(row.position, row.subject, row.event.TOPIC, repr(data_of(row.event))) for row in world.log]
    return hashlib.sha256(repr(rows).encode()).hexdigest()


def first_by_hash(self: Labs, among: int) -> int:
    """Return the first system by the hash of its name: a planted fault."""
    return self.number(next(iter({self.names[number] for number in numbers_in(among)})))


if __name__ == "__main__":
    if sys.argv[1:] == ["planted"]:
        Labs.first_by_name = first_by_hash  # type: ignore[method-assign]
    for seed, acts in product((1, 2), (ACTS, EVERYTHING)):
        print(digest(live(seed, bursts=60, limit=500, acts=acts)))
