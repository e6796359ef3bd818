"""Each state has its own event, so that the log is a readable history of its subjects."""

from __future__ import annotations

from typing import Any, get_type_hints

import pytest

from domain.directory import events as directory_events
from domain.endings import EndingEvent
from domain.events import TOPICS, Event, UnknownTopic, UnknownVersion, data_of, from_data
from domain.lab_commands import events as command_events
from domain.lifecycle import Lifecycle
from domain.recipe import events as recipe_events
from domain.recipe.lifecycle import RECIPE
from domain.system import events as system_events
from domain.system.lifecycle import USAGE, WITH_RECIPE
from tests.domain.recipe.samples import recipe_new

STATES = [(RECIPE, "recipe", state) for state in RECIPE.states]
STATES += [(USAGE, "system", usage) for usage in USAGE.states]


@pytest.mark.parametrize(("lifecycle", "kind", "state"), STATES)
def test_topic__every_state__has_its_event(lifecycle: Lifecycle, kind: str, state: str) -> None:
    event = TOPICS[f"{kind}.{state}"]
    said = getattr(event, "STATE", None) or getattr(event, "USAGE", None)
    assert said == state


@pytest.mark.parametrize(("kind", "states"), [("recipe", RECIPE.states), ("system", USAGE.states)])
def test_events__with_a_state__have_one_of_their_machine(kind: str, states: tuple[str, ...]) -> None:
    for topic, event in TOPICS.items():
        said = getattr(event, "STATE", None) or getattr(event, "USAGE", None)
        if topic.startswith(f"{kind}.") and said is not None:
            assert said in states
            assert topic == f"{kind}.{said}"


@pytest.mark.parametrize("usage", WITH_RECIPE)
def test_system_event__usage_of_a_recipe__names_the_recipe(usage: str) -> None:
    assert TOPICS[f"system.{usage}"].FIELDS == ("recipe_id",)


@pytest.mark.parametrize("state", ["scheduled", "waiting", "installing", "running", "reserved"])
def test_recipe_event__state_on_a_system__names_the_system(state: str) -> None:
    assert "system" in TOPICS[f"recipe.{state}"].FIELDS


@pytest.mark.parametrize("state", ["queued", "cancelled", "aborted"])
def test_recipe_event__state_that_needs_a_reason__has_one(state: str) -> None:
    assert get_type_hints(TOPICS[f"recipe.{state}"])["reason"] is str


def test_recipe_event__assigned__has_reason_only_after_loss_of_system() -> None:
    assert get_type_hints(TOPICS["recipe.assigned"])["reason"] == str | None


def test_recipe_new__first_version__no_guest_reservesys_or_custom_distro() -> None:
    later = ("host_recipe_id", "guestname", "guestargs", "distro", "reservesys", "locks")
    stored = {name: value for name, value in data_of(recipe_new(1)).items() if name not in later}
    assert from_data("recipe.new", 1, stored) == recipe_new(1)


def test_task_result__first_version__no_path_and_only_log_urls() -> None:
    result = recipe_events.TaskResult(1, "Pass", "", None, ["ftp://log/"])
    stored = {name: value for name, value in data_of(result).items() if name not in ("path", "logs")}
    assert from_data("recipe.task-result", 1, stored) == result


OF_ENDINGS: dict[str, dict[str, Any]] = {
    "partition.job-filter-removed": {"name": "few"},
    "partition.state-changed": {"state": "draining"},
    "pool.system-removed": {"system": "a"},
    "maintenance-window.ended": {"ended_at": "2026-11-29T12:00:00+00:00"},
}


@pytest.mark.parametrize(
    "ending", [each for each in TOPICS.values() if issubclass(each, EndingEvent)], ids=lambda each: each.TOPIC
)
def test_ending__first_version__has_no_reason(ending: type[EndingEvent]) -> None:
    stored = OF_ENDINGS.get(ending.TOPIC, {})
    read = from_data(ending.TOPIC, 1, stored)
    assert read == ending(**stored, reason=None)
    assert data_of(ending(**stored, reason="sold")) == {**stored, "reason": "sold"}


EVENTS = [
    # Without fields, with scalars, and with documents inside.
    system_events.SystemPending(),
    command_events.CommandFailed(reason="no power"),
    directory_events.PoolSystemRemoved("a", reason="sold"),
    recipe_events.TaskResult(task_id=1, result="Pass", message="", score=0.5, log_urls=["http://log/"]),
    recipe_new(1),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.TOPIC)
def test_event__stored_and_read__is_the_same(event: Event) -> None:
    assert from_data(event.TOPIC, event.VERSION, data_of(event)) == event


def test_event__unknown_topic__raises() -> None:
    with pytest.raises(UnknownTopic, match=r"recipe\.vanished"):
        from_data("recipe.vanished", 1, {})


def test_event__unknown_version__raises() -> None:
    with pytest.raises(UnknownVersion, match=r"recipe\.completed version 3, known up to 2"):
        from_data("recipe.completed", 3, {})
