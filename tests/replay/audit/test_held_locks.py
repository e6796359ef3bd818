"""The audit's own rules of held locks: their meaning, and the index of their holders."""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.contention import algebra
from domain.contention.documents import locks_to_json, stored_locks
from replay.audit.held_locks import HeldLocks
from replay.audit.interned_values import InternedValues
from replay.audit.locks import LEVELS, Locks, conflict, covers, locks_of, taken
from replay.audit.values import Recipe
from tests.replay.audit.lock_forms import FORMS

PAIRS = list(product(FORMS, repeat=2))
NAMES = frozenset("abc") | {"another"}


class Meaning(NamedTuple):
    """The names at one level that a lock shares, and those that it excludes others from."""

    shared: frozenset[str]
    exclusive: frozenset[str]


def meaning(form: Any) -> Meaning:
    lock = taken(locks_of({"network": form})).levels[LEVELS.index("network")]
    shared, exclusive = (part if isinstance(part, frozenset) else NAMES for part in lock)
    return Meaning(shared, exclusive)


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_conflict__each_pair_of_forms__is_that_of_their_names(one: Any, other: Any) -> None:
    mine, theirs = meaning(one), meaning(other)
    meet = mine.exclusive & (theirs.exclusive | theirs.shared) or mine.shared & theirs.exclusive
    first, second = ({"network": form} for form in (one, other))
    found = conflict(locks_of(first), locks_of(second), is_same_lab=True)
    assert found == bool(meet) == algebra.conflicts(stored_locks(first), stored_locks(second))
    assert not conflict(locks_of(first), locks_of({"pool": other}), is_same_lab=True)


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_covers__each_pair_of_forms__is_that_of_their_names(old: Any, new: Any) -> None:
    held, wanted = meaning(old), meaning(new)
    is_covered = wanted.exclusive <= held.exclusive and wanted.shared <= held.shared | held.exclusive
    first, second = ({"network": form} for form in (old, new))
    assert covers(taken(locks_of(first)), taken(locks_of(second))) == is_covered
    assert algebra.covers(stored_locks(first), stored_locks(second)) == is_covered


@pytest.mark.parametrize("form", FORMS)
def test_taken__each_form__is_what_the_scheduler_takes(form: Any) -> None:
    document = {"network": form}
    assert taken(locks_of(document)) == locks_of(locks_to_json(algebra.held(stored_locks(document))))


@pytest.mark.parametrize(("same_lab", "found"), [(True, True), (False, False)])
def test_conflict__whole_lab__excludes_every_set_of_its_lab(same_lab: bool, found: bool) -> None:
    whole_lab = locks_of({"whole_lab": True})
    for other in (locks_of({}), locks_of({"pool": "AllShared"}), whole_lab):
        assert conflict(whole_lab, other, is_same_lab=same_lab) == found
        assert conflict(other, whole_lab, is_same_lab=same_lab) == found


def test_covers__whole_lab__only_itself() -> None:
    whole_lab, pool = locks_of({"whole_lab": True}), locks_of({"pool": {"Shared": ["a"]}})
    assert covers(whole_lab, whole_lab) and covers(whole_lab, locks_of({}))
    assert not covers(pool, whole_lab) and not covers(whole_lab, pool)


SET_IDS = st.integers(1, 4)
LABS = st.sampled_from(("lab-1", "lab-2"))
DOCUMENTS = st.fixed_dictionaries(
    {},
    optional={"network": st.sampled_from(FORMS), "pool": st.sampled_from(FORMS), "whole_lab": st.booleans()},
)
HOLDERS = st.lists(st.tuples(SET_IDS, LABS, DOCUMENTS, st.booleans()), max_size=6)


@given(HOLDERS, SET_IDS, LABS, DOCUMENTS)
def test_in_the_way__after_starts_and_ends__are_the_conflicting_sets(
    holders: list[tuple[int, str, Any, bool]], set_id: int, lab: str, document: Any
) -> None:
    index, left = HeldLocks(), dict[int, Recipe]()
    wants = InternedValues().own_requirements("", None)
    for number, (other, there, held, _) in enumerate(holders):
        started = Recipe(number, other, None, wants).with_state("waiting", "a", there, taken(locks_of(held)))
        index.replace(None, started)
        left[number] = started
    for number, (_, _, _, is_ended) in enumerate(holders):
        if is_ended:
            index.replace(left.pop(number), None)
    locks = taken(locks_of(document))
    assert index.in_the_way(locks, lab, set_id) == {
        recipe.set_id for recipe in left.values() if recipe.set_id != set_id and meets(recipe, locks, lab)
    }


def meets(recipe: Recipe, locks: Locks, lab: str) -> bool:
    assert recipe.held is not None
    return conflict(recipe.held, locks, is_same_lab=recipe.lab == lab)
