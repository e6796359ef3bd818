"""Every state has an event of its own, so that the log reads as the history of its subjects."""

from __future__ import annotations

from typing import get_type_hints

import pytest

from domain.command import events as command_events
from domain.events import TOPICS, Event, UnknownTopic, UnknownVersion, data_of, from_data
from domain.lifecycle import Lifecycle
from domain.recipe import events as recipe_events
from domain.recipe.lifecycle import RECIPE
from domain.system import events as system_events
from domain.system.lifecycle import USAGE, WITH_RECIPE
from tests.domain.recipe.made import recipe_new

# Only sets of several recipes are assigned, and no job can ask yet to keep its system.
NOT_YET = ("assigned", "reserved")

STATES = [(RECIPE, "recipe", state) for state in RECIPE.states if state not in NOT_YET]
STATES += [(USAGE, "system", usage) for usage in USAGE.states]


@pytest.mark.parametrize(("lifecycle", "kind", "state"), STATES)
def test_topic__every_state__is_an_event_that_says_so(lifecycle: Lifecycle, kind: str, state: str) -> None:
    event = TOPICS[f"{kind}.{state}"]
    said = getattr(event, "STATE", None) or getattr(event, "USAGE", None)
    assert said == state


@pytest.mark.parametrize("state", NOT_YET)
def test_topic__state_that_nothing_leads_to_yet__has_no_event(state: str) -> None:
    # When this fails, take the state out of NOT_YET.
    assert f"recipe.{state}" not in TOPICS


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


@pytest.mark.parametrize("state", ["scheduled", "waiting", "installing", "running"])
def test_recipe_event__state_on_a_system__names_the_system(state: str) -> None:
    assert "system" in TOPICS[f"recipe.{state}"].FIELDS


@pytest.mark.parametrize("state", ["queued", "cancelled", "aborted"])
def test_recipe_event__something_a_person_asks_about__gives_the_reason(state: str) -> None:
    assert get_type_hints(TOPICS[f"recipe.{state}"])["reason"] is str


EVENTS = [
    # Without fields, with scalars, and with documents inside.
    system_events.SystemPending(),
    command_events.CommandFailed(reason="no power"),
    recipe_events.TaskResult(task_id=1, result="Pass", message="", score=0.5, log_urls=["http://log/"]),
    recipe_new(1),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.TOPIC)
def test_event__stored_and_read__is_the_same(event: Event) -> None:
    assert from_data(event.TOPIC, event.VERSION, data_of(event)) == event


def test_event__topic_nobody_knows__stops_the_reader() -> None:
    with pytest.raises(UnknownTopic, match=r"recipe\.vanished"):
        from_data("recipe.vanished", 1, {})


def test_event__version_nobody_knows__stops_the_reader() -> None:
    with pytest.raises(UnknownVersion, match=r"recipe\.completed version 2, known up to 1"):
        from_data("recipe.completed", 2, {})
