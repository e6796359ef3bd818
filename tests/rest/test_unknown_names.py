"""Lists with a filter by a name that does not exist."""

from __future__ import annotations

import httpx
import pytest

NOBODY = "nobody.example.com"
FILTERS = [
    ("systems", "pool"),
    ("systems", "owner"),
    ("systems", "lab_controller"),
    ("jobs", "owner"),
    ("jobs", "group"),
    ("groups", "user"),
    ("pools", "owner_group"),
    ("claims", "system"),
    ("reconciliations", "lab_controller"),
    ("events", "actor"),
]


@pytest.mark.parametrize(("name", "parameter"), FILTERS)
def test_list__of_an_unknown_name__is_empty(client: httpx.Client, name: str, parameter: str) -> None:
    answer = client.get(f"/{name}", params={parameter: NOBODY})
    assert answer.status_code == 200, answer.text
    assert (answer.json()[name], answer.json()["next"]) == ([], None)
    # These lists have rows without the filter; claims, reconciliations and jobs depend on what others did.
    if name in ("systems", "groups", "pools", "events"):
        assert client.get(f"/{name}").json()[name]


@pytest.mark.parametrize(
    ("path", "parameter"), [("/systems", "partition"), ("/jobs", "partition"), ("/queue", "system")]
)
def test_list__of_an_unknown_partition_or_in_the_order_of_an_unknown_system__404(
    client: httpx.Client, path: str, parameter: str
) -> None:
    answer = client.get(path, params={parameter: NOBODY})
    assert answer.status_code == 404 and NOBODY in answer.json()["title"]
