"""Filters of lists. test_as_of.py compares them at all positions."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

EAST = "lab.east.example.com"


def systems(client: httpx.Client, **asked: Any) -> list[dict[str, Any]]:
    """Return all pages of a list of systems."""
    page = client.get("/systems", params=asked).json()
    found = page["systems"]
    while page["next"]:
        page = client.get(page["next"]).json()
        found += page["systems"]
    return found


def test_systems__with_filters__are_those_of_the_whole_list(client: httpx.Client) -> None:
    everything = systems(client)
    in_big = [row for row in everything if "big" in row["pools"]]
    assert 0 < len(in_big) < len(everything)
    assert systems(client, pool="big") == in_big
    manual = systems(client, condition="Manual", lab_controller=EAST)
    assert manual == [
        row for row in everything if row["condition"] == "Manual" and row["lab_controller"] == EAST
    ]
    assert manual


def test_systems__with_a_filter_by_pages__keep_it_to_the_end(client: httpx.Client) -> None:
    assert systems(client, lab_controller=EAST, limit=2) == systems(client, lab_controller=EAST)


def test_list__with_a_filter_and_min_position__knows_what_was_written(client: httpx.Client) -> None:
    client.put("/pools/narrow", json={})
    done = client.put("/pools/narrow/systems/arm-01.east.example.com").json()["position"]
    (row,) = systems(client, pool="narrow", min_position=done)
    assert row["fqdn"] == "arm-01.east.example.com"
    assert systems(client, pool="narrow", as_of=done - 1) == []


@pytest.mark.parametrize(
    ("path", "asked", "said"),
    [
        ("/jobs", {"state": "runing"}, "running"),
        ("/systems", {"condition": "automated"}, "Automated"),
        ("/systems", {"usage": "busy"}, "idle"),
        ("/systems", {"lab_controller": "-"}, "host name"),
        ("/systems", {"state": "running"}, "the parameters are"),
        ("/queue", {"owner": "alice"}, "the parameters are"),
    ],
)
def test_list__with_a_filter_that_cannot_be__says_what_can(
    client: httpx.Client, path: str, asked: dict[str, str], said: str
) -> None:
    answer = client.get(path, params=asked)
    assert answer.status_code == 422
    (fault,) = answer.json()["errors"]
    assert fault["where"] == next(iter(asked)) and said in fault["message"]
