"""The state of a partition, including private parts, as one comparable value; and checks of its indexes.

Details without an effect are left out: the order inside heaps, removed keys in heaps, entries without
recipes, what the next check compares, whether an entry is evaluated, cached hopeless sets, and the
completion plans.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import chain, combinations
from typing import Any

import orjson

from domain.access.submit_rights import Submitter
from domain.admission.configuration import ALWAYS
from domain.contention.algebra import conflicts
from domain.contention.weights import static_weight, worst_cells
from domain.queues.tree import parent_of, paths_upward
from domain.recipe.lifecycle import PLACED, UNPLACED
from domain.recipe.state import Recipe
from domain.scheduling.admitting.room_limits import NO_NEEDS
from domain.scheduling.admitting.rooms import Rooms
from domain.scheduling.bitsets.bitmaps import union
from domain.scheduling.decisions.granting import holders
from domain.scheduling.decisions.kept_room import lacks
from domain.scheduling.demand.demand_counts import FilterEntry
from domain.scheduling.demand.lines import OWED, QUEUED, Line, newly_assigned_line, room_line
from domain.scheduling.demand.weighing import WEIGHTLESS_PROFILE, WeightClass
from domain.scheduling.explaining.held_back import held_back_counts
from domain.scheduling.locking.lock_queue import Held, Wanted
from domain.scheduling.ranked import Rank
from domain.scheduling.safety.completion import stuck
from domain.scheduling.safety.holders import LabHolders
from domain.scheduling.safety.matching import match
from domain.scheduling.safety.plans import Plans
from domain.scheduling.sets.set_states import lab_of
from domain.scheduling.world.conservation import Conservation
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.snapshot import pieces, restored


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
        "locks",
        "_index_updates",
        "_access_updates",
        "_lab_moves",
        "visible",
        "absent_trees",
        "departed_names",
        "conservation",
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
        "locks": _locks(partition),
        "filters": _filters(partition),
        "labs": (list(partition.labs.names), partition.labs.registered),
        "visible": sorted((fqdn, policy) for fqdn, (_, policy) in partition.visible._restricted.items()),
    }


def snapshot_of(partition: Partition) -> bytes:
    """Return the snapshot of a partition, with the present results of the filters in use."""
    states = [dict(piece) for piece in pieces(partition) if "filters" not in piece]
    if partition.triggers.batch.left is None:
        # The bounds of an answered batch depend only on the time of the last look.
        del states[0]["batch"]
    found = [
        (repr(entry.key), hex(partition.filters.fitting(entry.key))) for entry in partition.filters.in_use()
    ]
    return orjson.dumps([states, sorted(found)])


def restored_copy(partition: Partition) -> Partition:
    """Return the partition restored from its snapshot."""
    return restored(orjson.loads(orjson.dumps(piece)) for piece in pieces(partition))


def answers(partition: Partition) -> dict[str, Any]:
    """Return the candidates of each recipe, and the recipes of each system in rank order."""
    ranked = {
        (fqdn, line): list(partition.filters.ranked_recipes(fqdn, [line], forced_only=False))
        for fqdn, system in partition.systems.items()
        for line in (QUEUED, OWED, system.lab_controller)
    }
    hosts = list(_hosts(partition))
    return {
        "ranked": ranked,
        "entitled": {host.recipe_id: partition.entitled(host) for host in hosts},
        "idle": {host.recipe_id: partition.idle(host) for host in hosts},
        "who": {host.recipe_id: partition.sets.index.demand(host).submitter for host in hosts},
        "counted": [partition.filters.demand_counts().value(each) for each in range(len(ranked) // 3)],
    }


def _plain(value: Any) -> Any:
    """Return dictionaries as ordered pairs, because decisions may depend on the iteration order."""
    if isinstance(value, dict):
        return [(key, _plain(each)) for key, each in value.items()]
    return value


def _sets(partition: Partition) -> dict[str, Any]:
    """Return the sets; indexes whose order has no effect are sorted."""
    held = dict(vars(partition.sets))
    for part in ("_weighing", "_holders", "index", "places", "classes", "admission_updates", "lock_records"):
        del held[part]
    held["overtakings"] = partition.sets.overtakings.maximum, partition.sets.overtakings.plain()
    admission = vars(held.pop("admission"))
    labs = sorted(partition.holders._labs.items())
    bound = {lab: dict(sorted(each.hosts.items())) for lab, each in labs if each.hosts}
    indexes = {"placed": sorted(held.pop("placed")), "on_clock": sorted(held.pop("watchdogs").running)}
    indexes["people"] = sorted(_plain(partition.sets.index._people), key=repr)
    indexes["rooms"] = _rooms(partition)
    indexes["preemptions"] = held.pop("preemptions").plain()
    claims = held.pop("claims")
    indexes["claims"] = sorted(claims.of.items()), sorted((k, sorted(v)) for k, v in claims.forcing.items())
    turns = held.pop("turns")
    indexes["turns"] = sorted(turns.used.items()), sorted(turns.of_job.items()), turns.is_one_line
    del held["rooms"], held["host_counts"]
    indexes["incomplete"] = sorted(held.pop("incomplete"))
    for name in ("held_back", "ending", "_dependents", "_of_job"):
        indexes[name] = sorted(admission[name].items())
    indexes["outcomes"] = list(admission["outcomes"].plain())
    indexes["job_filters"] = admission["job_filters"].ordered
    held["demands"] = partition.sets.index._demands
    return {"bound": bound, **indexes, **{name: _plain(value) for name, value in held.items()}}


def _rooms(partition: Partition) -> dict[str, Any]:
    """Return needs and charges. The numbers of classes depend on the history of the limits."""
    sets, rooms = partition.sets, partition.sets.rooms
    return {
        "needs": {recipe_set_id: sets.classes.needs(recipe_set_id) for recipe_set_id in sorted(sets.sets)},
        "charged": sorted(rooms.charged.items()),
        "charged_jobs": sorted(rooms.charged_jobs.items()),
        "used": sorted(rooms.used.items()),
        "host_counts": sorted(sets.host_counts.items()),
    }


def line_with_needs(rooms: Rooms, line: str) -> Any:
    name, room, number = line.partition(" room ")
    return (name, rooms.key_of(int(number))) if room else line


def _check_rooms(partition: Partition) -> None:
    """Compare needs, charges and rooms with the states of all sets."""
    sets, rooms = partition.sets, partition.sets.rooms
    charged, jobs, by_set = {}, {}, {}
    for recipe_set_id, recipe_set in sets.sets.items():
        applying = sets.admission.applying(recipe_set)
        needs = by_set[recipe_set_id] = rooms.needs(recipe_set, sets.host_counts[recipe_set_id], applying)
        assert sets.classes.needs_of(recipe_set_id) == needs
        is_incomplete = not sets.recipes.keys() >= set(recipe_set.recipe_ids)
        assert (recipe_set_id in sets.incomplete) == is_incomplete
        is_charged = any(host.system or host.state == "assigned" for host in sets.hosts(recipe_set_id))
        if needs != NO_NEEDS and is_charged:
            charged[recipe_set_id] = needs.of_set
            if needs.of_job:
                jobs[recipe_set.job_id] = needs.of_job
    assert (rooms.charged, rooms.charged_jobs) == (charged, jobs)
    for recipe_set_id, needs in by_set.items():
        of_job = () if sets.sets[recipe_set_id].job_id in jobs else needs.of_job
        assert sets.classes.needs(recipe_set_id) == (*needs.of_set, *of_job)
    used = Counter[Any]()
    for each in (*charged.values(), *jobs.values()):
        used.update(dict(each))
    assert rooms.used == used
    assert Counter(sets.classes.numbers.values()) == {
        number: each.sets for number, each in rooms._classes.items()
    }
    assert {rooms.key_of(number): number for number in rooms._classes} == rooms._numbers
    for recipe_set_id, number in sets.classes.numbers.items():
        assert rooms.queue_of(number) == sets.turns.queue_of(sets.sets[recipe_set_id])
    under = chain.from_iterable(by_count.values() for by_count in rooms._under.values())
    assert {*chain.from_iterable(under)} == {*rooms._classes}
    assert rooms.has_closed == any(True for _ in rooms.closed())
    for number in rooms._classes:
        has_room = all(limit.capacity - used[limit] >= count for limit, count in rooms.needs_of(number))
        assert (number in rooms.open()) == (number in rooms.open(rooms.queue_of(number))) == has_room


def _locks(partition: Partition) -> dict[str, Any]:
    """Return held and wanted locks; who blocks whom is found again when it is needed."""
    locks = partition.locks
    return {
        "held": sorted(locks._held.items()),
        "waiting": sorted(locks.waiting.items()),
        "overtaken": sorted(locks.overtaken.items()),
        "owed": sorted(locks._owed),
        "next": locks.next(),
    }


def _filters(partition: Partition) -> dict[str, Any]:
    filters = partition.filters
    used = [entry for entry in filters._entries.values() if entry.unplaced]
    return {
        "unplaced": {entry.key: sum(entry.unplaced.values()) for entry in used},
        "lines": {entry.key: _lines_of(partition, entry) for entry in used},
        "viable": {entry.key: filters.fitting(entry.key) for entry in used},
    }


def _lines_of(partition: Partition, entry: FilterEntry) -> dict[Any, dict[Submitter, list[Rank]]]:
    """Return the recipes with a filter, by line and submitter; the needs stand for the number of a class."""
    filters, rooms = partition.filters, partition.sets.rooms
    return {
        line_with_needs(rooms, name): {
            filters.submitter(submitter): sorted(chain.from_iterable(groups))
            for submitter, groups in sorted(line.by_submitter(entry.number).items())
        }
        for name, line in filters._lines.items()
        if line.filters >> entry.number & 1
    }


def check_indexes(partition: Partition) -> None:
    """Compare every index with the states that it indexes."""
    _check_filters(partition)
    _check_weights(partition)
    _check_locks(partition)
    _check_rooms(partition)
    _check_admission(partition)
    _check_turns(partition)
    sets = partition.sets
    for lab, _ in partition.directory.items("lab-controller"):
        # A started set has all of its systems, so it is no holder any more.
        bound = [host for host in _hosts(partition) if host.state in ("assigned", "scheduled")]
        keeping = {host.recipe_set_id for host in bound if host.lab_controller == lab}
        assert set(partition.holders.of(lab)) == keeping, f"holders of {lab}"
        _check_holders(partition, lab)
    deadlines = {recipe.recipe_id for recipe in sets.recipes.values() if recipe.deadline is not None}
    assert set(sets.watchdogs.running) == deadlines
    ends = {r.recipe_id for r in sets.recipes.values() if r.recorded_deadline is not None}
    assert set(sets.watchdogs.expired(datetime.max.replace(tzinfo=UTC))) == ends
    with_system = {r.recipe_id for r in sets.recipes.values() if r.system is not None and not r.finished}
    assert set(sets.placed) == with_system
    _check_hopeless(partition)
    _check_conservation(partition)
    assert set(partition.reserved) == {name for name, each in partition.systems.items() if each.reservation}
    assert set(partition.lent) == {name for name, each in partition.systems.items() if each.loan}


def _check_turns(partition: Partition) -> None:
    """Compare the queues with unfinished sets, and what queues and jobs hold, with plain sums."""
    sets, turns = partition.sets, partition.sets.turns
    queues = {each.submitted.queue for each in sets.sets.values()}
    assert turns._sets == Counter(each.submitted.queue for each in sets.sets.values())
    above = Counter((parent_of(path), path) for queue in queues for path in paths_upward(queue))
    counted = {(parent, path): n for parent, below in turns._children.items() for path, n in below.items()}
    assert counted == above
    if not turns.is_one_line:
        _check_first_sets(partition)
    placed = [
        sets.sets[sets.recipes[each].recipe_set_id] for each in sets.placed if _is_host(partition, each)
    ]
    assert turns.of_job == Counter(each.job_id for each in placed)
    assert turns.used == Counter(path for each in placed for path in paths_upward(each.submitted.queue))


def _check_first_sets(partition: Partition) -> None:
    """Compare the first set of each queue with all sets that have a recipe without a system."""
    sets = partition.sets
    waiting = {host.recipe_set_id for host in _hosts(partition) if host.state in UNPLACED}
    places: dict[str, list[tuple[int, int]]] = {}
    for each in map(sets.sets.__getitem__, waiting):
        for path in paths_upward(each.submitted.queue):
            places.setdefault(path, []).append((-each.priority, each.submission))
    queues = {path for each in sets.sets.values() for path in paths_upward(each.submitted.queue)}
    for path in queues:
        assert sets.turns.first_set(path) == min(places.get(path, ()), default=()), path
    assert sum(map(len, sets.turns._waiting.values())) == len(waiting)


def _is_host(partition: Partition, recipe_id: int) -> bool:
    return not partition.sets.recipes[recipe_id].is_guest


def _check_conservation(partition: Partition) -> None:
    """Check all systems and placed recipes; what breaks a law must be part of the next check."""
    everything, recipes = Conservation(partition.sets), partition.sets.recipes
    for system in partition.systems.values():
        everything.put_system(None, system)
    for recipe_id in partition.sets.placed:
        everything.put_recipe(None, recipes[recipe_id])
    everything.broken_laws(partition.systems)
    assert everything._held == partition.conservation._held
    assert everything._systems.keys() <= partition.conservation._systems.keys()
    assert everything._recipes.keys() <= partition.conservation._recipes.keys()


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


def _check_heads(partition: Partition, line: Line, number: int) -> None:
    """Compare the heads of a filter with its groups, by weight class."""
    firsts: dict[WeightClass, dict[int, list[Rank]]] = {}
    for (submitter, profile), ranked in line._groups.get(number, {}).items():
        by_submitter = firsts.setdefault(partition.filters.weighing.classes[profile], {})
        by_submitter.setdefault(submitter, []).append(min(ranked))
    heads = {key: each for key, each in line.heads.items() if each.filters >> number & 1}
    assert heads.keys() == firsts.keys()
    for key, each in heads.items():
        expected = sorted(chain.from_iterable(firsts[key].values()))
        assert sorted(each.recipes[number]) == expected
        assert each.count == sum(map(len, each.recipes.values()))
        assert each.first_recipes.first(number) == expected[0]
        for submitter, first_recipes in each.first_by_submitter.items():
            assert first_recipes.first(number) == min(firsts[key].get(submitter, []), default=None)


def _check_weights(partition: Partition) -> None:
    """Compare the weight class of each profile with the weight beside all placed recipes, one by one."""
    weighing = partition.filters.weighing
    placed = [host for host in _hosts(partition) if host.state in PLACED]
    assert weighing.static(weighing.classes[WEIGHTLESS_PROFILE]) == 0
    for number, profile in weighing._profiles.items():
        systems = 0 if profile.job is None else partition.sets.turns.systems_of_job(profile.job)
        assert weighing.classes[number].systems == systems
        if profile.is_weightless:
            assert weighing.static_of(number) == 0
            continue
        others = [partition.locks_of_placed(host) for host in placed if host.recipe_set_id != profile.holder]
        weight = static_weight(worst_cells(profile.locks, others), weighing.settings)
        assert weighing.static(weighing.classes[number]) == weight


def _check_locks(partition: Partition) -> None:
    """Compare held, wanted and owed locks, and the sets that can have theirs, with plain sums."""
    locks, sets = partition.locks, partition.sets
    started = [host for host in _hosts(partition) if host.started]
    assert locks._held == {
        host.recipe_id: Held(host.recipe_set_id, host.lab_controller, host.held) for host in started
    }
    conflicting = [
        (one.subject, other.subject)
        for one, other in combinations(started, 2)
        if one.recipe_set_id != other.recipe_set_id
        and conflicts(one.held, other.held, one.lab_controller == other.lab_controller)
    ]
    assert not conflicting
    assert locks.waiting.keys() == {number for number in sets.sets if sets.lock_records.wanted(number)}
    assert all(wanted == sets.lock_records.wanted(number) for number, wanted in locks.waiting.items())
    assert locks.overtaken.keys() <= locks.waiting.keys()
    bound = partition.configuration.locks.max_overtaken
    owed = {number for number in locks.waiting if locks.overtaken.get(number, 0) >= bound}
    assert locks._owed.keys() == owed
    assert all(locks.overtaken.get(number, 0) <= bound for number in locks.waiting)
    able = [number for number, wanted in locks.waiting.items() if _can_have(partition, wanted)]
    assert locks.next() == min(able, key=lambda number: locks.waiting[number].turn, default=None)


def _can_have(partition: Partition, wanted: Wanted) -> bool:
    """Return whether a waiting set conflicts with nobody who holds locks, or to whom they are owed."""
    locks = partition.locks
    held = [each for each in locks._held.values() if each.recipe_set_id != wanted.recipe_set_id]
    owed = [locks.waiting[number] for number in locks._owed]
    others = [*held, *(each for each in owed if each.turn < wanted.turn)]
    return not any(conflicts(wanted.locks, each.locks, wanted.lab == each.lab) for each in others)


def _check_admission(partition: Partition) -> None:
    """Compare the sets that are held back with the answers of admission for all sets that hold nothing."""
    admission = partition.sets.admission
    expected = {}
    for recipe_set_id, recipe_set in partition.sets.sets.items():
        hosts = partition.sets.hosts(recipe_set_id)
        if all(host.state in ("new", "queued") for host in hosts):
            held = admission.why_held_back(recipe_set, admission.applying(recipe_set))
            if held is not None:
                expected[recipe_set_id] = held
    assert admission.held_back == expected
    counts = Counter(held.row for number, held in expected.items() for _ in partition.sets.hosts(number))
    for number in partition.sets.sets:
        if number not in expected and partition.sets.classes.lacks_room(number):
            hosts = [host for host in partition.sets.hosts(number) if host.state == "queued"]
            counts.update(next(lacks(partition, host)).row for host in hosts)
    assert held_back_counts(partition) == +counts
    assert sorted(admission.ending) == sorted(number for number, held in expected.items() if held.ends)


def _line(partition: Partition, host: Recipe) -> str:
    """Return the line of a queued or assigned recipe, with that of its queue while queues have turns."""
    sets = partition.sets
    is_owed = sets.overtakings.is_owed(host.recipe_set_id)
    is_ahead = host.state == "assigned" or is_owed
    line = OWED if is_owed else QUEUED
    if host.state == "assigned":
        line = lab_of(host)
        if host.recipe_id in sets.newly_assigned and not is_owed:
            line, is_ahead = newly_assigned_line(line), False
    elif host.recipe_set_id in sets.classes.numbers:
        return room_line(line, sets.classes.numbers[host.recipe_set_id])
    if sets.turns.is_one_line or (is_ahead and partition.configuration.order.assigned_first == ALWAYS):
        return line
    return f"{line} queue {sets.sets[host.recipe_set_id].submitted.queue}"


def _check_filters(partition: Partition) -> None:
    filters, sets = partition.filters, partition.sets
    held_back = sets.admission.held_back
    unplaced = [
        host for host in _hosts(partition) if host.state in UNPLACED and host.recipe_set_id not in held_back
    ]
    for number, entry in filters._by_number.items():
        mine = [host for host in unplaced if sets.index.key(host) == entry.key]
        lines: dict[str, dict[Submitter, list[Any]]] = {}
        for host in mine:
            if host.state != "new":
                by_submitter = lines.setdefault(_line(partition, host), {})
                by_submitter.setdefault(sets.index.demand(host).submitter, []).append(sets.rank(host))
        expected_lines = {
            line_with_needs(sets.rooms, line): {key: sorted(ranks) for key, ranks in by_submitter.items()}
            for line, by_submitter in lines.items()
        }
        assert _lines_of(partition, entry) == expected_lines
        by_submitter = Counter(sets.index.demand(host).submitter for host in mine)
        counted = {filters.submitter(submitter): count for submitter, count in entry.unplaced.items()}
        assert (entry.number, counted) == (number, dict(by_submitter))
        assert bool(filters._evaluated_bits >> number & 1) == (entry.fitting is not None)
        for name, there in filters._lines.items():
            assert bool(there.filters >> number & 1) == (name in lines)
            _check_heads(partition, there, number)
    filters._catch_up()
    for number in range(len(partition.labs.names)):
        evaluated = [entry for entry in filters._by_number.values() if entry.fitting is not None]
        expected = sum(
            partition.viable(host) >> number & 1
            for host in unplaced
            if filters._entries[sets.index.key(host)].fitting is not None
        )
        assert filters.demand_counts().value(number) == expected, f"count of {partition.labs.names[number]}"
        signature = sum(1 << entry.number for entry in evaluated if (entry.fitting or 0) >> number & 1)
        assert filters._signatures.of(number) == signature, f"filters of {partition.labs.names[number]}"
