"""The state and result of a set or job: the least finished state and the worst result of its members."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.recipe.lifecycle import FINISHED, RECIPE
from domain.roll_up import RESULT_ORDER, STATE_ORDER, result_in, result_of, state_of

STATES = [
    # One member: its state.
    ("queued", "queued"),
    # One running member makes the whole running.
    ("running queued completed", "running"),
    ("aborted running", "running"),
    # Provisioning counts before waiting for systems.
    ("installing waiting queued", "installing"),
    ("waiting scheduled", "waiting"),
    # Among members that wait for systems, the least advanced counts.
    ("new assigned queued scheduled", "new"),
    ("queued scheduled", "queued"),
    ("assigned scheduled", "assigned"),
    # Reserved is not finished yet.
    ("reserved completed", "reserved"),
    # All finished: aborted beats cancelled beats completed.
    ("completed completed", "completed"),
    ("completed cancelled", "cancelled"),
    ("completed cancelled aborted", "aborted"),
]
RESULTS = [
    # Nothing reported yet.
    ("", "New"),
    ("New None", "None"),
    # A skipped task does not hide a pass.
    ("Skip Pass", "Pass"),
    ("Pass Warn Pass", "Warn"),
    ("Fail Warn", "Fail"),
    ("Panic Fail Pass", "Panic"),
]

states = st.lists(st.sampled_from(STATE_ORDER), min_size=1)
results = st.lists(st.sampled_from(RESULT_ORDER))


@pytest.mark.parametrize(("members", "whole"), STATES)
def test_state__of_members__is_the_least_finished(members: str, whole: str) -> None:
    assert state_of(members.split()) == whole


@pytest.mark.parametrize(("members", "whole"), RESULTS)
def test_result__of_members__is_the_worst(members: str, whole: str) -> None:
    assert result_of(members.split()) == whole


def test_state_order__every_recipe_state__has_its_place() -> None:
    assert sorted(STATE_ORDER) == sorted(RECIPE.states)
    assert set(STATE_ORDER[-3:]) == set(FINISHED)


@pytest.mark.parametrize("result", RESULT_ORDER)
@pytest.mark.parametrize("state", RECIPE.states)
def test_result__in_a_state__is_at_least_warn_once_given_up(state: str, result: str) -> None:
    better = state in ("cancelled", "aborted") and result in ("New", "None", "Skip", "Pass")
    assert result_in(state, result) == ("Warn" if better else result)


@given(states, st.randoms(use_true_random=False))
def test_state__members_in_another_order__is_the_same(members: list[str], chance: object) -> None:
    shuffled = list(members)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert state_of(shuffled) == state_of(members)


@given(states)
def test_state__of_any_members__is_finished_just_when_all_are(members: list[str]) -> None:
    assert (state_of(members) in FINISHED) == all(member in FINISHED for member in members)


@given(states, states)
def test_state__of_sets_of_members__is_that_of_all_members(one: list[str], other: list[str]) -> None:
    assert state_of([state_of(one), state_of(other)]) == state_of(one + other)


@given(results, results)
def test_result__of_sets_of_members__is_that_of_all_members(one: list[str], other: list[str]) -> None:
    assert result_of([result_of(one), result_of(other)]) == result_of(other + one)
