"""Copies of jobs: the chosen recipe sets, and their dependencies in the copy."""

from __future__ import annotations

from typing import Any

import pytest

from domain.errors import FaultyInput, Refused
from domain.job.rerun import chosen_sets, copied, states_dependencies

RESULTS = {5: "Pass", 6: "Warn", 8: "New", 9: "Panic", 10: "Skip", 11: "Fail"}
STATES = {"states": ["completed"]}


@pytest.mark.parametrize(
    ("failed", "numbers", "chosen"),
    [
        (False, None, [5, 6, 8, 9, 10, 11]),
        (True, None, [6, 9, 11]),
        # In the order of the job, each once.
        (False, [9, 5, 9], [5, 9]),
    ],
)
def test_chosen_sets__all_failed_or_named__are_in_the_order_of_the_job(
    failed: bool, numbers: list[int] | None, chosen: list[int]
) -> None:
    assert chosen_sets(1, RESULTS, failed, numbers) == chosen


def test_chosen_sets__waived_failures__are_copied_only_by_number() -> None:
    assert chosen_sets(1, RESULTS, True, None, [6, 11]) == [9]
    assert chosen_sets(1, RESULTS, False, None, [6, 11]) == [*RESULTS]
    assert chosen_sets(1, RESULTS, False, [6], [6]) == [6]


def test_chosen_sets__unknown_numbers__are_all_named_with_those_that_exist() -> None:
    with pytest.raises(FaultyInput) as refused:
        chosen_sets(1, RESULTS, False, [7, 5, 4])
    assert [(fault.where, fault.message) for fault in refused.value.faults] == [
        ("sets[0]", "recipe set 7 is not in job 1; it has 5, 6, 8, 9, 10, 11"),
        ("sets[2]", "recipe set 4 is not in job 1; it has 5, 6, 8, 9, 10, 11"),
    ]
    with pytest.raises(FaultyInput, match="it has 20 recipe sets from 1 to 20"):
        chosen_sets(1, dict.fromkeys(range(1, 21), "Pass"), False, [30])


def test_chosen_sets__nothing_to_copy__is_refused_with_the_reason() -> None:
    with pytest.raises(Refused, match="job 1 has no recipe sets"):
        chosen_sets(1, {}, False, None)
    with pytest.raises(Refused, match="no recipe set of job 1 has failed"):
        chosen_sets(1, {5: "Pass", 8: "New"}, True, None)
    with pytest.raises(Refused, match="no recipe set of job 1 has a failure that is not waived"):
        chosen_sets(1, {5: "Pass", 8: "Fail"}, True, None, [8])
    with pytest.raises(FaultyInput, match="cannot be given together"):
        chosen_sets(1, RESULTS, True, [6])


def document(*sets: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"whiteboard": "w", "recipe_sets": [{"priority": "Low", **each} for each in sets], **more}


def test_copied__job_of_another__keeps_all_but_its_owner_key_and_openness() -> None:
    job = document({"key": "a"}, {"key": "b"}, user="bob", key="nightly", open=True, notify=["a@b"])
    assert copied(job, [5, 6], [6], {}) == document({"key": "b"}, notify=["a@b"])


def of_set(number: int) -> dict[str, Any]:
    return {"recipe_set": number, **STATES}


OF_JOB = {"job": 3, **STATES}
CHAIN = document({}, {"depends_on": [of_set(-1)]}, {"depends_on": [of_set(-1)]}, depends_on=[{"job": -1}])
# With ids, those of the job first.
IDS = {5: [OF_JOB], 6: [OF_JOB, of_set(5)], 8: [OF_JOB, of_set(6)]}


@pytest.mark.parametrize(
    ("chosen", "of_sets"),
    [
        ([5, 6, 8], [None, [of_set(-1)], [of_set(-1)]]),
        # A set that is not copied keeps nobody waiting.
        ([5, 8], [None, None]),
        ([6, 8], [None, [of_set(-1)]]),
    ],
)
def test_copied__sets_that_depend_on_each_other__depend_on_the_copies(
    chosen: list[int], of_sets: list[Any]
) -> None:
    made = copied(CHAIN, [5, 6, 8], chosen, {number: IDS[number] for number in chosen})
    # What all sets depend on is that of the job again; the number that counted back is an id.
    assert made["depends_on"] == [OF_JOB]
    assert [each.get("depends_on") for each in made["recipe_sets"]] == of_sets


def test_copied__sets_with_one_dependency_on_an_earlier_set__is_not_one_of_the_job() -> None:
    ids = {5: [], 6: [of_set(5)], 8: [of_set(5)]}
    made = copied(document({}, {}, {}), [5, 6, 8], [5, 6, 8], ids)
    assert "depends_on" not in made
    assert [each.get("depends_on") for each in made["recipe_sets"]] == [None, [of_set(-1)], [of_set(-2)]]


class Compared(dict[str, Any]):
    """A dependency that counts comparisons with others."""

    count = 0
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        Compared.count += 1
        return super().__eq__(other)


def test_copied__many_sets_with_many_dependencies__are_not_compared_with_each_other() -> None:
    numbers = range(1, 51)
    ids = {number: [Compared(job=100 + each) for each in range(20)] for number in numbers}
    made = copied(document(*({} for _ in numbers)), [*numbers], [*numbers], ids)
    assert len(made["depends_on"]) == 20
    assert Compared.count <= len(numbers) * 20


def test_states_dependencies__of_the_job_or_a_set__is_true() -> None:
    assert not states_dependencies(document({}, depends_on=[]))
    assert states_dependencies(CHAIN) and states_dependencies(document({}, depends_on=[OF_JOB]))
