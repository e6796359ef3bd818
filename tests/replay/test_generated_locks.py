"""Generated resource locks: as many profiles as requested, accepted by the parser, of moderate weights."""

from __future__ import annotations

from itertools import islice

import pytest

from domain.contention.algebra import held
from domain.contention.documents import locks_from_json
from domain.contention.locks import LEVELS, NO_LOCK, names
from domain.contention.own_names import OwnNames, placed, unplaced
from domain.contention.weights import WORST, WeightSettings, static_weight, worst_cells
from replay.workload.generated_lab import generate_lab
from replay.workload.generated_locks import generate_profiles, with_buckets, with_locks
from replay.workload.generated_queue import generate_filters, generate_sets

LAB = generate_lab(7, 3, 400)
SETTINGS = WeightSettings()


@pytest.mark.parametrize(("levels", "count"), [(1, 1), (1, 200), (5, 200), (5, 2_000)])
def test_profiles__of_a_seed__are_distinct_and_lock_each_level(levels: int, count: int) -> None:
    profiles = generate_profiles(LAB, 7, levels, count)
    assert profiles == generate_profiles(LAB, 7, levels, count)
    assert len({repr(profile) for profile in profiles}) == count
    assert all(list(profile) == list(LEVELS[-levels:]) for profile in profiles)


def test_profiles__beside_many_recipes__weigh_neither_nothing_nor_everything() -> None:
    declared = [locks_from_json(profile, "locks") for profile in generate_profiles(LAB, 7, 5, 200)]
    assert all(NO_LOCK not in locks.levels for locks in declared)
    running = [
        held(placed(locks, OwnNames(f"system-{number}", "lab", names("big"))))
        for number, locks in enumerate(declared * 2)
    ]
    weights = [static_weight(worst_cells(unplaced(locks), running), SETTINGS) for locks in declared]
    everything = SETTINGS.base + len(LEVELS) * SETTINGS.values[WORST]
    moderate = [weight for weight in weights if SETTINGS.base < weight < everything]
    assert len(moderate) > 0.9 * len(weights)
    assert len(set(moderate)) > 10


def test_sets__with_locks_and_buckets__differ_in_nothing_else() -> None:
    def sets(size: int) -> list[dict[str, object]]:
        return list(islice(generate_sets(generate_filters(LAB, 7, 20), 7, (size,)), 30))

    profiles = generate_profiles(LAB, 7, 5, 4)
    found = list(with_buckets(with_locks(iter(sets(3)), profiles, 7), 2, 5, 7))
    bare = [
        {"priority": each["priority"], "recipes": [{**recipe, "locks": 0} for recipe in each["recipes"]]}
        for each in found
    ]
    assert bare == [
        {**each, "recipes": [{**recipe, "locks": 0} for recipe in each["recipes"]]} for each in sets(3)
    ]
    assert all(len({repr(recipe["locks"]) for recipe in each["recipes"]}) == 1 for each in found)
    assert {repr(each["recipes"][0]["locks"]) for each in found} == {repr(profile) for profile in profiles}
    assert {each["reasons"][0] for each in found} == {"rate-limit:5:bench-0", "rate-limit:5:bench-1"}
