"""/timeline: spans, pages, persons, and equality with the usage of each system."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from api.rest.contract.queries import TimelinePage
from api.rest.paging import PageAt
from api.rest.resources import timeline
from domain.errors import FaultyInput
from projections.reader import At
from tests.rest.actions import People, cancel_set, in_state, recipe_for, rows_of, submit

FIRST_PAGE = PageAt(At(1), 100, timeline.TIMELINE_START)


def shown(client: httpx.Client, **params: Any) -> dict[str, Any]:
    answer = client.get("/timeline", params=params)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def ends(item: dict[str, Any]) -> tuple[datetime, datetime]:
    return datetime.fromisoformat(item["since"]), datetime.fromisoformat(item["until"])


@pytest.fixture
def history(client: httpx.Client, people: People, machine: str) -> tuple[str, int]:
    """Return a system with a recipe of alice that ended, and the position after its end."""
    submitted = submit(people["alice"], recipe_for(machine))
    in_state(client, submitted["recipe_ids"][0], "waiting")
    cancel_set(client, submitted)
    position = in_state(client, submitted["recipe_ids"][0], "cancelled")["position"]
    return machine, int(position)


def test_timeline__ends_with_a_change__has_the_state_after_it(
    client: httpx.Client, history: tuple[str, int]
) -> None:
    machine, position = history
    events = rows_of(client, "events", subject=f"system/{machine}", as_of=position)
    for event in events:
        later = {"fqdn": machine, "until": event["recorded_at"], "resolution_seconds": 100_000}
        (system,) = shown(client, **later)["systems"]
        assert system["at_end"] == end_after(client, machine, event["commit_end"])
    assert {"system.scheduled", "system.waiting"} <= {event["topic"] for event in events}


def end_after(client: httpx.Client, machine: str, position: int) -> dict[str, Any]:
    """Return the end of a time line as the system and its recipe are as of a position."""
    system = client.get(f"/systems/{machine}", params={"as_of": position}).json()
    person = system["user"] if system["recipe_id"] is None else "alice"
    return {**{name: system[name] for name in ("condition", "usage", "recipe_id")}, "user": person}


def test_timeline__before_a_system_was_added__has_no_end(client: httpx.Client, machine: str) -> None:
    (first, *_) = rows_of(client, "events", subject=f"system/{machine}")
    until = datetime.fromisoformat(first["recorded_at"]) - timedelta(seconds=1)
    (system,) = shown(client, fqdn=machine, until=until.isoformat())["systems"]
    assert system["at_end"] is None


@pytest.mark.parametrize("resolution", [0, 100, 100_000])
def test_timeline__of_a_moment__each_row_adds_up_to_the_span(
    client: httpx.Client, history: tuple[str, int], resolution: int
) -> None:
    answer = shown(client, as_of=history[1], resolution_seconds=resolution)
    since, until = ends(answer)
    assert until == datetime.fromisoformat(answer["as_of"]) == since + timedelta(days=1)
    assert answer["resolution_seconds"] == resolution
    systems = client.get("/systems", params={"as_of": history[1], "limit": 100}).json()["systems"]
    assert [row["fqdn"] for row in answer["systems"]] == [system["fqdn"] for system in systems]
    named = ("condition", "usage", "recipe_id")
    for row, system in zip(answer["systems"], systems, strict=True):
        assert {name: row["at_end"][name] for name in named} == {name: system[name] for name in named}
    for row in answer["systems"]:
        assert sum(round(one["seconds"] * 10**6) for one in row["intervals"]) == 86_400 * 10**6
        between = [moment for one in row["intervals"] for moment in ends(one)]
        assert between[0] == since and between[-1] == until
        assert between[1:-1:2] == between[2:-1:2], "intervals have no gaps"


def test_timeline__without_resolution__equals_the_usage_of_the_system(
    client: httpx.Client, people: People, history: tuple[str, int]
) -> None:
    fqdn, position = history
    answer = shown(client, as_of=position, fqdn=fqdn)
    ((since, until), (row,)) = ends(answer), answer["systems"]
    usage = client.get(f"/systems/{fqdn}/usage", params={"as_of": position, "since": answer["since"]}).json()
    named = ("condition", "usage", "recipe_id")
    expected = []
    for one in usage["intervals"]:
        begin = datetime.fromisoformat(one["since"])
        end = datetime.fromisoformat(one["until"]) if one["until"] else until
        if begin < end:
            expected.append((begin, end, *(one[name] for name in named)))
    assert expected[0][0] == since
    assert [(*ends(one), *(one[name] for name in named)) for one in row["intervals"]] == expected
    registered = [one for one in row["intervals"] if one["usage"] != "unregistered"]
    assert {(one["user"], one["job_id"] is None) for one in registered} == {(None, True), ("alice", False)}


def test_timeline__several_systems_by_name__repeated_or_with_commas(
    client: httpx.Client, history: tuple[str, int]
) -> None:
    fqdn, other, missing = history[0], "x86-01.east.example.com", "missing.example.com"
    wanted = sorted([fqdn, other])
    for given in ([fqdn, other, missing], ",".join((other, fqdn))):
        assert [row["fqdn"] for row in shown(client, fqdn=given)["systems"]] == wanted


def test_timeline__next_page__has_the_time_span_of_the_first(
    client: httpx.Client, history: tuple[str, int]
) -> None:
    first = shown(client, limit=1)
    second = client.get(first["next"]).json()
    assert ends(second) == ends(first)
    assert [page["systems"][0]["fqdn"] for page in (first, second)] == [
        system["fqdn"] for system in client.get("/systems", params={"limit": 2}).json()["systems"]
    ]
    assert client.get("/timeline", params={"cursor": "WyJ4IiwieCIsIngiXQ=="}).status_code == 422


def test_timeline__filters__hold_as_of_the_read(client: httpx.Client, history: tuple[str, int]) -> None:
    fqdn, before = history
    client.patch(f"/systems/{fqdn}", json={"condition": "Broken"}).raise_for_status()
    after = client.patch(f"/systems/{fqdn}", json={"condition": "Manual"}).headers["labledger-position"]
    for as_of, condition in ((before, "Automated"), (after, "Manual")):
        for wanted in ("Automated", "Broken", "Manual"):
            (found,) = shown(client, as_of=as_of, fqdn=fqdn)["systems"]
            filters = {
                "condition": wanted,
                "lab_controller": found["lab_controller"],
                "owner": found["owner"],
            }
            rows = shown(client, as_of=as_of, fqdn=fqdn, **filters)["systems"]
            assert [row["condition"] for row in rows] == [condition] * (wanted == condition)
            assert shown(client, as_of=as_of, fqdn=fqdn, owner="nobody", condition=wanted)["systems"] == []


def test_timeline__until_in_the_future__ends_now(client: httpx.Client) -> None:
    answer = shown(client, until="2999-01-01T00:00:00Z", limit=1)
    assert ends(answer)[1] <= datetime.now(UTC)


def test_least_resolution__any_span__is_accepted_and_one_second_less_is_not() -> None:
    until = datetime(2026, 1, 1, tzinfo=UTC)
    for length in (timedelta(seconds=2_001), timedelta(days=1), timedelta(days=30)):
        least = -(-length // timedelta(seconds=1_000))
        accepted = TimelinePage.model_validate({"resolution_seconds": str(least)})
        span = accepted.model_copy(update={"since": until - length, "until": until})
        assert timeline._span(span, FIRST_PAGE, until) == (until - length, until)
        with pytest.raises(FaultyInput) as refused:
            timeline._span(span.model_copy(update={"resolution_seconds": least - 1}), FIRST_PAGE, until)
        assert [fault.where for fault in refused.value.faults] == ["resolution_seconds"]


def test_timeline__more_exact_intervals_than_allowed__names_system_and_resolution() -> None:
    until = datetime(2026, 1, 1, tzinfo=UTC)
    row = {"fqdn": "a.example.com", "number": timeline.MAX_INTERVALS}
    timeline._require_few([row], until - timedelta(days=1), until)
    with pytest.raises(FaultyInput) as refused:
        timeline._require_few([{**row, "number": row["number"] + 1}], until - timedelta(days=1), until)
    (fault,) = refused.value.faults
    assert fault.where == "resolution_seconds"
    assert fault.message == (
        "must be at least 87, because a.example.com has more than 2,000 intervals in this time span"
    )
