"""/systems/{fqdn}/usage: who had a system, who ordered it, and intervals that add up to the time span."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest

from tests.rest.actions import People, after, cancel_set, in_state, recipe_for, submit

USED = ("kind", "user", "ordered_by", "job_id")
SECOND = timedelta(seconds=1)


def usage_of(client: httpx.Client, fqdn: str, **query: Any) -> dict[str, Any]:
    answer = client.get(f"/systems/{fqdn}/usage", params=query)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def moments(item: dict[str, Any], *names: str) -> list[datetime]:
    return [datetime.fromisoformat(item[name]) for name in names or ("since", "until")]


def users(answer: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Return the users of a system in order, each once, without intervals that have no duration."""
    found = [tuple(one[name] for name in USED) for one in answer["intervals"] if one["seconds"]]
    return [one for number, one in enumerate(found) if number == 0 or found[number - 1] != one]


@pytest.fixture
def lent(
    client: httpx.Client, people: People, machines: Callable[..., str]
) -> tuple[str, int, list[tuple[Any, ...]]]:
    """Return a system that a recipe, a reservation and a loan had, the last position, and its users."""
    fqdn = machines()
    submitted = submit(people["alice"], recipe_for(fqdn))
    in_state(client, submitted["recipe_ids"][0], "waiting")
    cancel_set(client, submitted)
    in_state(client, submitted["recipe_ids"][0], "cancelled")
    client.patch(f"/systems/{fqdn}", json={"condition": "Manual"}).raise_for_status()
    client.put(f"/systems/{fqdn}/loan", json={"user": "bob"}).raise_for_status()
    people["bob"].put(f"/systems/{fqdn}/reservation", json={}).raise_for_status()
    people["bob"].delete(f"/systems/{fqdn}/reservation").raise_for_status()
    ended = client.delete(f"/systems/{fqdn}/loan")
    client.get(f"/systems/{fqdn}", params=after(ended)).raise_for_status()
    nobody, loan = (None, None, None, None), ("loan", "bob", "admin", None)
    recipe = ("recipe", "alice", "alice", submitted["job_id"])
    had = [nobody, recipe, nobody, loan, ("reservation", "bob", "bob", None), loan]
    return fqdn, int(ended.headers["labledger-position"]), had


def test_usage__recipe_reservation_and_loan__have_the_person_and_who_ordered_it(
    client: httpx.Client, lent: tuple[str, int, list[tuple[Any, ...]]]
) -> None:
    fqdn, position, had = lent
    answer = usage_of(client, fqdn, as_of=position)
    assert users(answer) == had
    for one in answer["intervals"]:
        if one["kind"]:
            event = client.get(f"/events/{one['ordered_position']}").json()["event"]
            assert event["actor"] == one["ordered_by"]
            assert event["topic"] in ("recipe.new", "system.loaned", "system.reservation-begun")


def test_usage__any_time_span__seconds_add_up_to_it_and_have_no_gaps(
    client: httpx.Client, lent: tuple[str, int, list[tuple[Any, ...]]]
) -> None:
    fqdn, position, _ = lent
    whole = usage_of(client, fqdn, as_of=position)
    begin, end = moments(whole)
    for since, until in (
        (begin, end),
        (begin - 5 * SECOND, end + SECOND),
        (begin + (end - begin) / 3, end - (end - begin) / 7),
        (begin - 5 * SECOND, begin - 4 * SECOND),
        (begin + (end - begin) / 2,) * 2,
    ):
        asked = {"as_of": position, "since": since.isoformat(), "until": until.isoformat()}
        answer = usage_of(client, fqdn, **asked)
        assert moments(answer) == [since, min(until, end)]
        length = round((min(until, end) - since) / timedelta(microseconds=1))
        assert sum(round(one["seconds"] * 10**6) for one in answer["intervals"]) == length
        begins = [moments(one, "since")[0] for one in answer["intervals"]]
        ends = [datetime.fromisoformat(one["until"] or answer["until"]) for one in answer["intervals"]]
        assert (begins, ends[-1]) == ([since, *ends[:-1]], min(until, end))
        assert (answer["intervals"][0]["usage"] == "unregistered") == (since < begin)


def test_usage__in_pages__is_the_same_and_keeps_the_end_of_the_first_page(
    client: httpx.Client, lent: tuple[str, int, list[tuple[Any, ...]]]
) -> None:
    fqdn, _, had = lent
    since = (moments(usage_of(client, fqdn))[0] - SECOND).isoformat()
    page = usage_of(client, fqdn, since=since, limit=1)
    until, found = page["until"], page["intervals"]
    while page["next"]:
        page = client.get(page["next"]).json()
        assert page["until"] == until
        found += page["intervals"]
    assert found == usage_of(client, fqdn, since=since, until=until)["intervals"][:-1] + found[-1:]
    assert sum(round(one["seconds"] * 10**6) for one in found) == round(
        (moments(page, "until")[0] - datetime.fromisoformat(since)) / timedelta(microseconds=1)
    )
    assert users({"intervals": found}) == [*had, had[0]]
    refused = client.get(f"/systems/{fqdn}/usage", params={"cursor": "WyJ4IiwxXQ=="})
    assert (refused.status_code, refused.json()["errors"][0]["where"]) == (422, "cursor")


def test_usage__of_a_moment__has_the_interval_of_that_moment(
    client: httpx.Client, lent: tuple[str, int, list[tuple[Any, ...]]]
) -> None:
    fqdn, position, _ = lent
    for one in usage_of(client, fqdn, as_of=position)["intervals"]:
        if one["seconds"]:
            (found,) = usage_of(client, fqdn, since=one["since"], until=one["since"])["intervals"]
            assert {**found, "until": None, "seconds": None} == {**one, "until": None, "seconds": None}
    (now,) = usage_of(client, fqdn, since="9999-01-01T00:00:00Z", until="9999-01-01T00:00:00Z")["intervals"]
    assert (now["kind"], now["seconds"], now["until"]) == (None, 0.0, None)
