"""Filters of lists, and the systems of a pool, against a real service."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from click.testing import Result

from tests.harness.running import SAMPLES, Running

Run = Callable[..., Result]
SMOKE = str(SAMPLES / "kernel-smoke.xml")


@pytest.fixture(scope="module")
def job(service: Running) -> str:
    """Return a cancelled job."""
    number = str(service.json("submit", SMOKE)["job_id"])
    service.do("cancel", number)
    return number


def test_jobs__filtered_by_state__shows_no_others(real: Run, job: str) -> None:
    listed = json.loads(real("jobs", "--all", "--json").stdout)["jobs"]
    asked = ("jobs", "--state", "Cancelled", "--owner", "admin", "--group", "kernel-qe", "--all", "--json")
    assert json.loads(real(*asked).stdout)["jobs"] == [row for row in listed if row["state"] == "cancelled"]
    assert job in real("jobs", "--state", "cancelled").stdout


def test_systems__filtered_by_pool__shows_no_others(real: Run) -> None:
    listed = json.loads(real("systems", "--json").stdout)["systems"]
    found = json.loads(real("systems", "--pool", "big", "--condition", "automated", "--json").stdout)[
        "systems"
    ]
    assert found == [row for row in listed if "big" in row["pools"] and row["condition"] == "Automated"]
    assert found


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("jobs --state reserved --owner alice", "There are no jobs with state reserved, owner alice.\n"),
        ("systems --pool big --as-of 0", None),
        ("queue --system arm-03.east.example.com", "No waiting recipe could use arm-03.east.example.com.\n"),
        ("systems --condition removed", "There are no systems with condition Removed.\n"),
    ],
)
def test_list__no_matches__message_names_the_filter(real: Run, arguments: str, said: str | None) -> None:
    result = real(*arguments.split())
    if said is None:
        # The pool did not exist then.
        assert result.exit_code == 1 and "as of position 0, pool big did not exist" in result.stderr
    else:
        assert (result.exit_code, result.stdout) == (0, said)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("jobs --owner nobody", "\nRun `labledger users` to list"),
        ("jobs --group nosuch", "\nRun `labledger groups` to list"),
        ("systems --pool nosuch", "\nRun `labledger pools` to list"),
        ("systems --lab-controller no.such", "\nRun `labledger lab-controllers` to list"),
    ],
)
def test_list__filtered_by_an_unknown_object__is_refused(real: Run, arguments: str, said: str) -> None:
    result = real(*arguments.split())
    assert (result.exit_code, result.stdout) == (1, "")
    assert arguments.split()[-1] in result.stderr and said in result.stderr


def test_pool__shown__lists_its_systems(real: Run) -> None:
    systems = [
        row["fqdn"] for row in json.loads(real("systems", "--pool", "big", "--json").stdout)["systems"]
    ]
    shown = real("pool", "show", "big").stdout
    assert f"systems: {len(systems)}\n" in shown and all(fqdn in shown for fqdn in systems)
    assert json.loads(real("pool", "show", "big", "--json").stdout)["systems"] == systems
    real("pool", "put", "hollow")
    assert "systems: 0" in real("pool", "show", "hollow").stdout
