"""The preview of a job that could never run has the reasons with which its recipes are aborted."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.harness.waiting import wait_until

ANY, TREE = "<hostRequires/>", '<distroRequires><distro_name op="=" value="RHEL-9.6"/></distroRequires>'
NO_TREE = TREE.replace("RHEL-9.6", "RHEL-1.0")
POOL = '<hostRequires><pool value="smal"/></hostRequires>'
HUGE = '<hostRequires><memory op="&gt;" value="1000000000"/></hostRequires>'
GUESTS = [{"distro_requires_xml": NO_TREE, "host_requires_xml": ANY, "guestargs": "x"}]


def recipe(host: str, distro: str = TREE, **more: Any) -> dict[str, Any]:
    tasks = [{"name": "/t"}]
    guests = [{**guest, "tasks": tasks} for guest in more.pop("guests", ())]
    more |= {"guests": guests} if guests else {}
    return {"distro_requires_xml": distro, "host_requires_xml": host, "tasks": tasks, **more}


@pytest.mark.parametrize(
    ("recipe_sets", "beginning"),
    [
        ([[recipe(ANY, NO_TREE)]], "no distro tree matches the distro requirements"),
        ([[recipe(POOL)]], 'no system matches the host requirements: there is no pool "smal"'),
        ([[recipe(HUGE)]], "no system matches the host requirements"),
        # One tree is missing, and that of a guest.
        ([[recipe(ANY, guests=GUESTS)]], "no distro tree matches the distro requirements"),
        # Another recipe of the set could run; another set, too, and it is not aborted.
        ([[recipe(ANY), recipe(HUGE)], [recipe(ANY)]], "another recipe of its set could never run"),
        ([[recipe(ANY)] * 30], "no lab has enough viable systems for all recipes of the set at once"),
    ],
)
def test_matches__job_that_could_never_run__has_the_reasons_of_the_abort(
    client: httpx.Client, recipe_sets: list[list[dict[str, Any]]], beginning: str
) -> None:
    job = {"recipe_sets": [{"recipes": recipes} for recipes in recipe_sets]}
    preview = client.post("/matches", json=job).json()["recipes"]
    assert preview[0]["why_never"].startswith(beginning)
    assert all((each["estimate"] is None) == (each["why_never"] is not None) for each in preview)
    reasons = abort_reasons(client, job)
    assert reasons == [without_ids(each["why_never"]) for each in preview]


def test_matches__no_distro_tree__claims_nothing_about_a_tree(client: httpx.Client) -> None:
    answer = client.post("/matches", json={"recipe_sets": [{"recipes": [recipe(HUGE, NO_TREE)]}]}).json()
    reasons = {tuple(each["reasons"]) for each in answer["systems"] if "it is Removed" not in each["reasons"]}
    assert reasons == {
        ("no distro tree matches the distro requirements", "it does not match the host requirements")
    }


def test_matches__viable_system_or_host_requirement_alone__is_not_aborted(client: httpx.Client) -> None:
    job = client.post("/matches", json={"recipe_sets": [{"recipes": [recipe(ANY)]}]}).json()
    alone = client.post("/matches", json={"host_requires_xml": HUGE}).json()
    (possible,), (of_filter,) = job["recipes"], alone["recipes"]
    assert (possible["why_never"], possible["estimate"] is not None) == (None, True)
    assert (of_filter["why_never"], of_filter["estimate"]) == (None, None)


def test_matches__no_system_is_viable_only_because_of_a_loan__is_not_aborted(
    client: httpx.Client, machines: Callable[..., str]
) -> None:
    fqdn = machines()
    client.put("/users/erin", json={"roles": ["submitter"]}).raise_for_status()
    lent = client.put(f"/systems/{fqdn}/loan", json={"user": "erin", "until": "2999-01-01T00:00:00Z"})
    assert lent.is_success, lent.text
    host = f'<hostRequires><hostname op="=" value="{fqdn}"/></hostRequires>'
    (found,) = client.post("/matches", json={"recipe_sets": [{"recipes": [recipe(host)]}]}).json()["recipes"]
    assert not any(each["viable"] for each in found["systems"])
    assert (found["why_never"], found["estimate"] is not None) == (None, True)


def abort_reasons(client: httpx.Client, job: dict[str, Any]) -> list[str | None]:
    """Submit a job; return the reason of each host that is aborted, None of another one. Cancel the rest."""
    answer = client.post("/jobs", json=job)
    path, position = answer.headers["location"], answer.headers["labledger-position"]
    hosts: list[dict[str, Any]] = []

    def are_decided() -> bool:
        recipe_sets = client.get(path, params={"min_position": position}).json()["recipe_sets"]
        recipes = [each for recipe_set in recipe_sets for each in recipe_set["recipes"]]
        hosts[:] = [each for each in recipes if each["host_recipe_id"] is None]
        return all(each["state"] != "new" for each in recipes)

    wait_until(are_decided, "decisions about all sets")
    client.post(f"{path}/cancel", json={"reason": "the test is over"})
    return [without_ids(each["reason"]) if each["state"] == "aborted" else None for each in hosts]


def without_ids(reason: str | None) -> str | None:
    """Return a reason without ids of recipes, which a job gets with its submission."""
    return None if reason is None else re.sub(r"recipes? \d+(, \d+)*( and \d+ more)?:", "recipes:", reason)
