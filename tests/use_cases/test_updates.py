"""Messages of lab controllers: one that is repeated with its key gets the same answer, and has no effect."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any

import pytest

from api.use_cases.change_system import NewSystemValues
from api.use_cases.lab_updates import OrderedUpdate, SystemUpdate, change_own_system, take_updates
from api.use_cases.ports import RequestContext
from api.use_cases.report_drafts import RecipeItem
from api.use_cases.report_progress import Answer
from domain.errors import FaultyInput, Refused, Unknown
from domain.recipe_set.messages import ReportAborted, ReportCompleted, ReportInstalling, ReportWatchdog
from store.requests import Committed
from tests.in_process.environment import Environment
from tests.races.stage import RaceStage, furnish

LAB = "lab-1"
Items = dict[int, RecipeItem | SystemUpdate | OrderedUpdate]


@pytest.fixture
def stage(environment: Environment) -> Iterator[RaceStage]:
    """Submit two jobs, recipes 1 and 2, that wait on a system each."""
    with environment.scene() as scene:
        furnish(scene)
        scene.scheduler.begin()
        stage = RaceStage(scene, 1)
        for _ in range(2):
            stage.add_system()
        for fqdn in list(stage.names):
            stage.submit({"or": [{"element": "hostname", "op": "==", "value": fqdn}]})
        stage.settle()
        yield stage
        scene.scheduler.die()


def keyed(key: str = "1", digest: bytes = b"same") -> RequestContext:
    return RequestContext(
        "lab-ops", "test", command_id=f"key/{key}", digest=digest, role="lab-controller", is_admin=False
    )


def tell(stage: RaceStage, request: RequestContext, items: Items, process: int = 0) -> dict[int, Answer]:
    return stage.scene.apis[process].ask(lambda services, _: take_updates(services, request, LAB, items))


def drains(stage: RaceStage, fqdn: str, process: int = 0) -> SystemUpdate:
    change = NewSystemValues(draining=True, reason="told")
    services = stage.scene.apis[process].services
    take = partial(change_own_system, services, lab_controller=LAB, fqdn=fqdn, change=change)
    return SystemUpdate(f"system/{fqdn}", take)


def message(stage: RaceStage, process: int = 0) -> Items:
    """Return the items of a message; item 3 is invalid."""
    return {
        0: RecipeItem(1, ReportInstalling()),
        1: RecipeItem(1, ReportWatchdog(600)),
        2: RecipeItem(2, ReportCompleted()),
        4: RecipeItem(999, ReportInstalling()),
        5: drains(stage, stage.names[1], process),
        6: RecipeItem(2, ReportInstalling()),
        7: RecipeItem(2, ReportCompleted()),
    }


def shown(answers: dict[int, Answer]) -> dict[int, Any]:
    return {
        number: answer.position if isinstance(answer, Committed) else (type(answer), str(answer))
        for number, answer in answers.items()
    }


def watchdogs(stage: RaceStage) -> int:
    return stage.story("recipe/1").count("watchdog-set")


def test_message__again_under_its_key__same_answers_and_nothing_new(stage: RaceStage) -> None:
    first = tell(stage, keyed(), message(stage))
    kinds = {number: type(answer) for number, answer in first.items()}
    assert kinds == {**dict.fromkeys((0, 1, 5, 6), Committed), **dict.fromkeys((2, 7), Refused), 4: Unknown}
    end = stage.scene.log.end()
    for process in (0, 1):
        again = tell(stage, keyed(), message(stage, process), process)
        assert {number: type(answer) for number, answer in again.items()} == kinds
        # A refused item is in no commit, so it is decided again.
        assert {**shown(again), 2: ...} == {**shown(first), 2: ...}
    assert stage.scene.log.end() == end
    assert watchdogs(stage) == 1


def test_message__again_without_a_key__watchdog_counts_anew(stage: RaceStage) -> None:
    for _ in range(2):
        tell(stage, RequestContext("lab-ops", "test"), message(stage))
    assert watchdogs(stage) == 2


def test_message__only_some_of_it_was_taken__the_rest_is_taken_now(stage: RaceStage) -> None:
    """The process ended before it had taken all items."""
    items = message(stage)
    begun = tell(stage, keyed(), {number: items[number] for number in (0, 1)})
    answers = tell(stage, keyed(), items)
    assert shown(answers)[0] == shown(begun)[0]
    assert isinstance(answers[5], Committed)
    assert watchdogs(stage) == 1


def test_message__twice_at_once__both_get_the_first_answers(stage: RaceStage) -> None:
    first: list[dict[int, Answer]] = []
    between = stage.scene.apis[1].appended.preceded(
        lambda: first.append(tell(stage, keyed(), message(stage)))
    )
    with between:
        second = tell(stage, keyed(), message(stage, 1), process=1)
    taken = (0, 1, 5, 6)
    assert {number: shown(second)[number] for number in taken} == {
        number: shown(first[0])[number] for number in taken
    }
    assert watchdogs(stage) == 1


def test_message__another_under_the_same_key__refused_whole(stage: RaceStage) -> None:
    tell(stage, keyed(), message(stage))
    end = stage.scene.log.end()
    with pytest.raises(FaultyInput, match="another request"):
        tell(stage, keyed(digest=b"other"), {0: drains(stage, stage.names[0])})
    assert stage.scene.log.end() == end


def test_message__of_another_key__is_another_message(stage: RaceStage) -> None:
    tell(stage, keyed(), message(stage))
    tell(stage, keyed("2"), message(stage))
    assert watchdogs(stage) == 2


def test_reports__on_many_sets__are_one_commit(stage: RaceStage) -> None:
    answers = tell(
        stage, keyed(), {0: RecipeItem(1, ReportInstalling()), 1: RecipeItem(2, ReportInstalling())}
    )
    assert shown(answers)[0] == shown(answers)[1]


def test_reports__one_set_moves_meanwhile__the_others_are_taken_all_the_same(stage: RaceStage) -> None:
    items: Items = {0: RecipeItem(1, ReportInstalling()), 1: RecipeItem(2, ReportInstalling())}
    cancelled = ReportAborted("by somebody else")
    between = stage.scene.apis[1].appended.preceded(
        lambda: tell(stage, RequestContext("lab-ops", "test"), {0: RecipeItem(1, cancelled)})
    )
    with between:
        answers = tell(stage, keyed(), items, process=1)
    assert {number: type(answer) for number, answer in answers.items()} == {0: Refused, 1: Committed}


def test_message__twice_at_once_and_one_of_them_in_parts__both_get_the_first_answers(
    stage: RaceStage,
) -> None:
    """A concurrent change makes the second message commit its items one by one; the first was one commit."""
    items: Items = {0: RecipeItem(1, ReportWatchdog(600)), 1: RecipeItem(2, ReportWatchdog(600))}
    first: list[dict[int, Answer]] = []

    def again() -> None:
        first.append(tell(stage, keyed(), items))

    def moved() -> None:
        tell(stage, RequestContext("lab-ops", "test"), {0: RecipeItem(1, ReportInstalling())})
        between.enter_context(appended.preceded(again))

    appended = stage.scene.apis[1].appended
    with ExitStack() as between, appended.preceded(moved):
        second = tell(stage, keyed(), items, process=1)
    assert shown(second) == shown(first[0])
    assert watchdogs(stage) == 1


def test_message__without_a_key_and_its_answer_is_lost__taken_once_with_one_answer(stage: RaceStage) -> None:
    """The process finds its own commit again: a retry of the append is no second message."""
    items: Items = {
        0: RecipeItem(1, ReportCompleted()),
        1: RecipeItem(1, ReportInstalling()),
        2: RecipeItem(1, ReportWatchdog(600)),
        3: RecipeItem(2, ReportInstalling()),
        4: RecipeItem(2, ReportWatchdog(600)),
    }
    with stage.scene.apis[0].appended.answer_lost():
        answers = tell(stage, RequestContext("lab-ops", "test"), items)
    assert {number: type(answer) for number, answer in answers.items()} == {
        0: Refused,
        **dict.fromkeys((1, 2, 3, 4), Committed),
    }
    assert stage.story("recipe/2").count("watchdog-set") == watchdogs(stage) == 1


def test_message__another_under_the_same_key_at_once__not_answered_as_done(stage: RaceStage) -> None:
    first, second = stage.names[:2]
    between = stage.scene.apis[1].appended.preceded(
        lambda: tell(stage, keyed(digest=b"other"), {5: drains(stage, first)})
    )
    with between, pytest.raises(FaultyInput, match="another request"):
        tell(stage, keyed(), {5: drains(stage, second, 1)}, process=1)
    assert "drained" not in stage.story(f"system/{second}")
