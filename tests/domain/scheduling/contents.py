"""The state of a partition, including private parts, as one comparable value; and checks of its indexes.

Details without an effect are left out: the order inside heaps, removed keys in heaps, entries without
recipes, whether an entry is evaluated, cached hopeless sets, and the completion plans.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import Any

import orjson

from domain.access.submit_rights import Submitter
from domain.recipe.lifecycle import UNPLACED
from domain.scheduling.bitsets.bitmaps import union
from domain.scheduling.decisions.granting import holders
from domain.scheduling.demand.demand_counts import FilterEntry
from domain.scheduling.demand.filters import QUEUED, Filters
from domain.scheduling.demand.lines import newly_assigned_line
from domain.scheduling.demand.ranked import Rank
from domain.scheduling.safety.completion import stuck
from domain.scheduling.safety.holders import LabHolders
from domain.scheduling.safety.matching import match
from domain.scheduling.safety.plans import Plans
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.snapshot import pieces


def contents(partition: Partition) -> dict[str, Any]:
    state = dict(vars(partition))
    for part in (
        "effort",
        "directory",
        "labs",
        "filters",
        "sets",
        "triggers",
        "available",
        "holders",
        "_index_updates",
        "_access_updates",
        "visible",
        "absent_trees",
        "departed_names",
    ):
        del state[part]
    rules = vars(state.pop("_trigger_rules"))
    assert not state.pop("_tentative"), "tentative events are no content"
    return {
        **{name: _plain(value) for name, value in {**state, **rules}.items()},
        "triggers": (partition.triggers.waiting(), sorted(partition.triggers.pending_wake_ups())),
        "batch": partition.triggers.batch,
        "available": [
            (partition.available.usable(forced=forced), partition.available.idle(forced=forced))
            for forced in (True, False)
        ],
        "trees_away": partition.absent_trees.plain(),
        "departed": partition.departed_names.plain(),
        "sets": _sets(partition),
        "filters": _filters(partition.filters),
        "labs": (list(partition.labs.names), partition.labs.registered),
        "visible": sorted((fqdn, policy) for fqdn, (_, policy) in partition.visible._restricted.items()),
    }


def snapshot_of(partition: Partition) -> bytes:
    """Return the snapshot of a partition, with the present results of the filters in use."""
    states = [dict(piece) for piece in pieces(partition) if not piece.keys() & {"filters", "signatures"}]
    if partition.triggers.batch.left is None:
        # The bounds of an answered batch depend only on the time of the last look.
        del states[0]["batch"]
    found = [
        (repr(entry.key), hex(partition.filters.fitting(entry.key))) for entry in partition.filters.in_use()
    ]
    return orjson.dumps([states, sorted(found)])


def answers(partition: Partition) -> dict[str, Any]:
    """Return the candidates of each recipe, and the recipes of each system in rank order."""
    ranked = {
        (fqdn, line): list(partition.filters.ranked_recipes(fqdn, line, forced_only=False))
        for fqdn, system in partition.systems.items()
        for line in (QUEUED, system.lab_controller)
    }
    hosts = list(_hosts(partition))
    return {
        "ranked": ranked,
        "entitled": {host.recipe_id: partition.entitled(host) for host in hosts},
        "idle": {host.recipe_id: partition.idle(host) for host in hosts},
        "who": {host.recipe_id: partition.sets.demand(host).submitter for host in hosts},
        "counted": [partition.filters.demand_counts().value(each) for each in range(len(ranked) // 2)],
    }


def _plain(value: Any) -> Any:
    """Return dictionaries as ordered pairs, because decisions may depend on the iteration order."""
    if isinstance(value, dict):
        return [(key, _plain(each)) for key, each in value.items()]
    return value


def _sets(partition: Partition) -> dict[str, Any]:
    """Return the sets; indexes whose order has no effect are sorted."""
    held = dict(vars(partition.sets))
    del held["_filters"], held["_holders"], held["_submitter_of"]
    labs = sorted(partition.holders._labs.items())
    bound = {lab: dict(sorted(each.hosts.items())) for lab, each in labs if each.hosts}
    indexes = {name: sorted(held.pop(name)) for name in ("on_clock", "placed")}
    indexes["people"] = sorted(_plain(held.pop("_people")), key=repr)
    return {"bound": bound, **indexes, **{name: _plain(value) for name, value in held.items()}}


def _filters(filters: Filters) -> dict[str, Any]:
    used = [entry for entry in filters._entries.values() if entry.unplaced]
    return {
        "unplaced": {entry.key: sum(entry.unplaced.values()) for entry in used},
        "lines": {entry.key: _lines_of(filters, entry) for entry in used},
        "viable": {entry.key: filters.fitting(entry.key) for entry in used},
    }


def _lines_of(filters: Filters, entry: FilterEntry) -> dict[str, dict[Submitter, list[Rank]]]:
    """Return the recipes with a filter, by line and submitter."""
    return {
        name: {
            filters.submitter(submitter): list(ranked)
            for submitter, ranked in sorted(line.by_submitter(entry.number).items())
        }
        for name, line in filters._lines.items()
        if entry.number in line.recipes
    }


def check_indexes(partition: Partition) -> None:
    """Compare every index with the states that it indexes."""
    _check_filters(partition)
    sets = partition.sets
    for lab, _ in partition.directory.items("lab-controller"):
        # A started set has all of its systems, so it is no holder any more.
        bound = [host for host in _hosts(partition) if host.state in ("assigned", "scheduled")]
        keeping = {host.recipe_set_id for host in bound if host.lab_controller == lab}
        assert set(partition.holders.of(lab)) == keeping, f"holders of {lab}"
        _check_holders(partition, lab)
    deadlines = {recipe.recipe_id for recipe in sets.recipes.values() if recipe.deadline is not None}
    assert set(sets.on_clock) == deadlines
    with_system = {r.recipe_id for r in sets.recipes.values() if r.system is not None and not r.finished}
    assert set(sets.placed) == with_system
    _check_hopeless(partition)
    assert set(partition.reserved) == {name for name, each in partition.systems.items() if each.reservation}


def _check_hopeless(partition: Partition) -> None:
    """Compare the cached hopeless sets with a recomputation; all of them must exist."""
    assert partition.holders.hopeless.keys() <= partition.sets.sets.keys()
    for recipe_set_id, by_lab in partition.holders.hopeless.items():
        missing = partition.sets.missing(recipe_set_id)
        for lab, kept in by_lab.items():
            wants = [partition.usable(host) & partition.labs.lab_controller[lab] for host in missing]
            assert kept == (len(wants) > 1 and match(wants) is None), f"set {recipe_set_id} in {lab}"


def _check_holders(partition: Partition, lab: str) -> None:
    """Compare the holders in the plans with the present ones; all others must be marked as unread."""
    now = {holder.recipe_set_id: holder for holder in holders(partition, lab)}
    bound = partition.holders._labs.get(lab, LabHolders())
    planned = bound.plans._holders
    assert planned == {number: holder for number, holder in now.items() if number in planned}
    assert sorted([*planned, *bound.unread]) == sorted(now)
    assert not bound.stuck or stuck(list(now.values()))
    check_plans(bound.plans)


def check_plans(plans: Plans) -> None:
    """Check that each holder has a plan, and that some order completes all holders."""
    planned: dict[int, dict[int, None]] = {}
    for number, holder in plans._holders.items():
        plan = list(plans._plans.get(number, ()))
        assert len(set(plan)) == len(plan) == len(holder.wants)
        assert all(
            (want & ~holder.held) >> system & 1 for want, system in zip(holder.wants, plan, strict=True)
        )
        for system in plan:
            planned.setdefault(system, {})[number] = None
    assert plans._planned == planned
    assert plans._plans.keys() <= plans._holders.keys()
    left = dict(plans._holders)
    assert plans.held == union(holder.held for holder in left.values())
    while left:
        held = union(holder.held for holder in left.values())
        first = [n for n in left if not any(held >> system & 1 for system in plans._plans.get(n, ()))]
        assert first, f"{list(left)} wait for each other"
        for number in first:
            del left[number]


def _hosts(partition: Partition) -> Iterator[Any]:
    return (recipe for recipe in partition.sets.recipes.values() if not recipe.is_guest)


def _check_filters(partition: Partition) -> None:
    filters, sets = partition.filters, partition.sets
    unplaced = [host for host in _hosts(partition) if host.state in UNPLACED]
    for number, entry in filters._by_number.items():
        mine = [host for host in unplaced if sets.key(host) == entry.key]
        lines: dict[str, dict[Submitter, list[Any]]] = {}
        for host in mine:
            if host.state != "new":
                line = host.lab_controller if host.state == "assigned" else QUEUED
                if host.recipe_id in sets.newly_assigned:
                    line = newly_assigned_line(host.lab_controller)
                lines.setdefault(line, {}).setdefault(sets.demand(host).submitter, []).append(sets.rank(host))
        assert _lines_of(filters, entry) == {
            line: {submitter: sorted(ranks) for submitter, ranks in by_submitter.items()}
            for line, by_submitter in lines.items()
        }
        by_submitter = Counter(sets.demand(host).submitter for host in mine)
        counted = {filters.submitter(submitter): count for submitter, count in entry.unplaced.items()}
        assert (entry.number, counted) == (number, dict(by_submitter))
        assert bool(filters._evaluated_bits >> number & 1) == (entry.fitting is not None)
        for name, there in filters._lines.items():
            assert bool(there.filters >> number & 1) == (name in lines)
            of_filter = there.by_submitter(number)
            firsts = [next(iter(each)) for each in of_filter.values()]
            assert there.first_recipes.first(number) == min(firsts, default=None)
            assert sorted(there.recipes.get(number, ())) == sorted(chain.from_iterable(of_filter.values()))
            for submitter, first_recipes in there.first_by_submitter.items():
                assert first_recipes.first(number) == (
                    next(iter(of_filter[submitter])) if submitter in of_filter else None
                )
    signatures = filters.signatures()
    for number in range(len(partition.labs.names)):
        evaluated = [entry for entry in filters._by_number.values() if entry.fitting is not None]
        expected = sum(
            partition.viable(host) >> number & 1
            for host in unplaced
            if filters._entries[sets.key(host)].fitting is not None
        )
        assert filters.demand_counts().value(number) == expected, f"count of {partition.labs.names[number]}"
        signature = sum(1 << entry.number for entry in evaluated if (entry.fitting or 0) >> number & 1)
        assert signatures[number] == signature, f"filters of {partition.labs.names[number]}"
