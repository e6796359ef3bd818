"""Dependencies: their documents, numbers that count back, and their effects."""

from __future__ import annotations

from typing import Any

import pytest

from domain.admission.dependencies import (
    DEFAULT_STATES,
    FINAL_STATES,
    Dependency,
    Effect,
    Preceding,
    Verdict,
    dependencies_from_json,
    dependency_to_json,
    effect,
    report_unknown,
    verdict,
    with_ids,
)
from tests.domain.admission.findings import faults, valid

# The third job of a submission, and in it the fourth recipe set.
PLACE = Preceding(jobs=2, recipe_sets=3)


def read(*documents: Any, preceding: Preceding = PLACE) -> tuple[Dependency, ...]:
    return valid(lambda path, report: dependencies_from_json([*documents], preceding, path, report))


def faults_of(document: Any, preceding: Preceding = PLACE) -> list[tuple[str, str]]:
    return faults(lambda path, report: dependencies_from_json(document, preceding, path, report))


DOCUMENTS = [
    ({"job": 17, "states": ["completed"]}, Dependency("job", 17, ("completed",))),
    ({"recipe_set": 5, "states": ["aborted"]}, Dependency("recipe-set", 5, ("aborted",))),
    ({"job": -2}, Dependency("job", -2, DEFAULT_STATES)),
    ({"recipe_set": -3}, Dependency("recipe-set", -3, DEFAULT_STATES)),
    # No named state means completed or aborted.
    ({"job": 17}, Dependency("job", 17, ("completed", "aborted"))),
    ({"job": 17, "states": []}, Dependency("job", 17, ("completed", "aborted"))),
    ({"job": 17, "states": None}, Dependency("job", 17, ("completed", "aborted"))),
    ({"job": 17, "recipe_set": None}, Dependency("job", 17)),
    # Each state once, in one order.
    ({"job": 1, "states": ["aborted", "completed", "aborted"]}, Dependency("job", 1)),
    ({"job": 1, "states": ["aborted", "cancelled", "completed"]}, Dependency("job", 1, FINAL_STATES)),
]


@pytest.mark.parametrize(("document", "dependency"), DOCUMENTS)
def test_document__valid__dependency_of_table(document: Any, dependency: Dependency) -> None:
    assert read(document) == (dependency,)
    assert read(dependency_to_json(dependency)) == (dependency,)


ONE_OF = "must have exactly one of job and recipe_set"
STATES = "must be one of completed, cancelled, aborted"

FAULTY = [
    ({"job": 17}, [("", "must be a list")]),
    ([17], [("[0]", "must be an object")]),
    ([{}], [("[0]", ONE_OF)]),
    ([{"states": ["completed"]}], [("[0]", ONE_OF)]),
    ([{"job": 17, "recipe_set": 5}], [("[0]", ONE_OF)]),
    ([{"job": 17, "on": 1}], [("[0].on", "is unknown; the fields are job, recipe_set, states")]),
    ([{"job": "17"}], [("[0].job", "must be a whole number from -2147483647 to 2147483647")]),
    ([{"job": True}], [("[0].job", "must be a whole number from -2147483647 to 2147483647")]),
    ([{"recipe_set": 1.0}], [("[0].recipe_set", "must be a whole number from -2147483647 to 2147483647")]),
    ([{"job": 2**31}], [("[0].job", "must be a whole number from -2147483647 to 2147483647")]),
    # On itself.
    ([{"job": 0}], [("[0].job", "must not be 0: nothing can depend on itself")]),
    ([{"recipe_set": 0}], [("[0].recipe_set", "must not be 0: nothing can depend on itself")]),
    # Before the first one.
    ([{"job": -3}], [("[0].job", "counts back too far: 2 precede it in its submission")]),
    ([{"recipe_set": -4}], [("[0].recipe_set", "counts back too far: 3 precede it in its document")]),
    # States that are not final, and in another form.
    ([{"job": 17, "states": ["running"]}], [("[0].states[0]", STATES)]),
    ([{"job": 17, "states": ["completed", "Aborted"]}], [("[0].states[1]", STATES)]),
    ([{"job": 17, "states": [7]}], [("[0].states[0]", STATES)]),
    ([{"job": 17, "states": "completed"}], [("[0].states", "must be a list")]),
    # All at once.
    (
        [{"job": 0, "states": ["new"]}, {"job": 17}, {"recipe_set": "a"}],
        [
            ("[0].job", "must not be 0: nothing can depend on itself"),
            ("[0].states[0]", STATES),
            ("[2].recipe_set", "must be a whole number from -2147483647 to 2147483647"),
        ],
    ),
]


@pytest.mark.parametrize(("document", "found"), FAULTY)
def test_document__faulty__faults_of_table(document: Any, found: list[tuple[str, str]]) -> None:
    assert faults_of(document) == found


def test_document__first_set_of_first_job__can_count_back_to_none() -> None:
    assert len(faults_of([{"job": -1}, {"recipe_set": -1}], Preceding())) == 2


def test_report_unknown__ids__only_those_that_do_not_exist() -> None:
    document = [{"job": 17}, {"job": 18}, {"recipe_set": 17}, {"job": -1}, {"job": "18"}, 7, {"job": 0}]
    found = faults(
        lambda path, report: report_unknown(
            document, lambda kind, number: (kind, number) == ("job", 17), path, report
        )
    )
    assert found == [
        ("[1].job", "there is no job 18"),
        ("[2].recipe_set", "there is no recipe set 17"),
    ]


def test_with_ids__numbers_that_count_back__are_the_preceding_ids() -> None:
    dependencies = read({"job": -1}, {"job": -2}, {"recipe_set": -1}, {"recipe_set": -3}, {"job": 4})
    numbers = [dependency.number for dependency in with_ids(dependencies, [30, 32], [70, 71, 75])]
    assert numbers == [32, 30, 75, 70, 4]


def test_with_ids__equal_dependencies__are_one() -> None:
    of_job, of_set = read({"job": 32}), read({"job": -1}, {"job": -1, "states": ["cancelled"]})
    assert with_ids([*of_job, *of_set], [30, 32], []) == (
        Dependency("job", 32),
        Dependency("job", 32, ("cancelled",)),
    )


# Named states, final state, effect.
EFFECTS = [
    ((), None, Effect.WAIT),
    ((), "completed", Effect.PROCEED),
    ((), "aborted", Effect.PROCEED),
    ((), "cancelled", Effect.CANCEL),
    (("completed",), None, Effect.WAIT),
    (("completed",), "completed", Effect.PROCEED),
    (("completed",), "aborted", Effect.ABORT),
    (("completed",), "cancelled", Effect.CANCEL),
    (("aborted",), "completed", Effect.ABORT),
    (("aborted",), "aborted", Effect.PROCEED),
    (("aborted",), "cancelled", Effect.CANCEL),
    (("cancelled",), "completed", Effect.ABORT),
    (("cancelled",), "aborted", Effect.ABORT),
    (("cancelled",), "cancelled", Effect.PROCEED),
    (("completed", "cancelled"), "aborted", Effect.ABORT),
    (("completed", "cancelled"), "cancelled", Effect.PROCEED),
]


@pytest.mark.parametrize(("states", "state", "expected"), EFFECTS)
def test_effect__named_and_final_states__effect_of_table(
    states: tuple[str, ...], state: str | None, expected: Effect
) -> None:
    (dependency,) = read({"job": 17, "states": [*states]})
    assert effect(dependency, state) is expected


ENDED = {("job", 1): "completed", ("job", 2): "aborted", ("recipe-set", 2): "cancelled"}
COMPLETED = ["completed"]

VERDICTS = [
    ([], Verdict(Effect.PROCEED)),
    ([{"job": 1}], Verdict(Effect.PROCEED)),
    ([{"job": 9}], Verdict(Effect.WAIT, "job 9, its dependency, has not ended")),
    ([{"job": 1}, {"job": 9}, {"job": 8}], Verdict(Effect.WAIT, "job 9, its dependency, has not ended")),
    (
        [{"job": 2, "states": COMPLETED}],
        Verdict(Effect.ABORT, "job 2, its dependency, was aborted, not completed"),
    ),
    (
        [{"recipe_set": 2}],
        Verdict(Effect.CANCEL, "recipe set 2, its dependency, was cancelled, not completed or aborted"),
    ),
    (
        [{"job": 1, "states": ["aborted"]}],
        Verdict(Effect.ABORT, "job 1, its dependency, has completed, not aborted"),
    ),
    # The first one that ends the set decides, at once.
    (
        [{"job": 9}, {"job": 2, "states": COMPLETED}, {"recipe_set": 2}],
        Verdict(Effect.ABORT, "job 2, its dependency, was aborted, not completed"),
    ),
    (
        [{"recipe_set": 2}, {"job": 2, "states": COMPLETED}],
        Verdict(Effect.CANCEL, "recipe set 2, its dependency, was cancelled, not completed or aborted"),
    ),
]


@pytest.mark.parametrize(("documents", "expected"), VERDICTS)
def test_verdict__several_dependencies__verdict_of_table(documents: list[Any], expected: Verdict) -> None:
    found = verdict(read(*documents), lambda kind, number: ENDED.get((kind, number)))
    assert found == expected
