"""All that a partition holds, private parts included, as one comparable value.

Left out is what may differ without ever showing: the order inside heaps, what is thrown out of them when it
comes up (answered triggers among it), numbers of filters, and whether a filter was evaluated yet.
"""

from __future__ import annotations

from typing import Any

from domain.scheduling.filters import Filters
from domain.scheduling.labs import numbers_in
from domain.scheduling.partition import Partition


def contents(partition: Partition) -> dict[str, Any]:
    held = dict(vars(partition))
    held.pop("effort")
    lab, filters = held.pop("lab"), held.pop("filters")
    # In order: iteration order of a dictionary is part of what the next decision might depend on.
    for name in ("systems", "recipes", "recipe_sets", "_trees", "_enabled"):
        held[name] = list(held[name].items())
    held["_triggers"] = sorted(filter(partition._stands, held["_triggers"]))
    held["_set_aside"] = list(held["_set_aside"])
    held["_supposed"] = dict(held["_supposed"])
    held["_pools"] = {fqdn: list(pools) for fqdn, pools in held["_pools"].items() if pools}
    return {**held, "lab": _lab(lab), "filters": _filters(filters)}


def _lab(lab: Any) -> dict[str, Any]:
    held = dict(vars(lab))
    held.pop("columns")
    for name in ("_by_controller", "_by_arch", "_excluding"):
        held[name] = {key: bits for key, bits in held[name].items() if bits}
    held["names"] = list(held["names"])
    held["_numbers"] = dict(held["_numbers"])
    held["_trees"] = dict(held["_trees"])
    return held


def _filters(filters: Filters) -> dict[str, Any]:
    idle = filters._idle_bits
    used = [entry for entry in filters._entries.values() if len(entry.queue)]
    return {
        "idle": list(numbers_in(idle)),
        "queues": {entry.key: sorted(entry.queue._members) for entry in used},
        "viable": {entry.key: filters.viable(entry.key) for entry in used},
        "wanting": sorted(str(filters._by_number[number].key) for number in numbers_in(filters._wanting)),
    }


def check_indexes(partition: Partition) -> None:
    """Every index says what the things it indexes say."""
    filters = partition.filters
    for number, entry in enumerate(filters._by_number):
        assert entry.number == number
        assert bool(filters._wanting >> number & 1) == (len(entry.queue) > 0)
        assert bool(filters._known >> number & 1) == (entry.viable is not None)
        assert entry.queue._members <= set(entry.queue._heap)
        if entry.idle is not None and entry.viable is not None:
            findable = {partition.lab.names[n] for n in numbers_in(entry.viable & filters._idle_bits)}
            assert findable <= set(entry.idle), f"{entry.key} cannot find {findable - set(entry.idle)}"
