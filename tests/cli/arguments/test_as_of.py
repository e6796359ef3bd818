"""`--as-of`: the moment of an answer, and objects that did not exist yet, against a real service."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from click.testing import Result

from tests.harness.running import SAMPLES, Running

Run = Callable[..., Result]

LATE = ("system", "group", "pool", "user", "lab-controller", "distro-tree", "job", "recipe")


@pytest.fixture(scope="module")
def late(service: Running) -> dict[str, str]:
    """Return the names of recently added objects, by kind."""
    job = service.json("submit", str(SAMPLES / "pinned.xml"))
    service.do("user", "put", "late")
    service.do("group", "put", "late", "--member", "late")
    service.do("pool", "put", "late")
    service.do("lab-controller", "put", "late.example.com")
    service.do("distro-tree", "put", "77", "name=F", "family=F", "arch=x86_64")
    service.do("system", "add", "late.example.com", "owner=late", "lab_controller=late.example.com")
    named = dict.fromkeys(("user", "group", "pool"), "late")
    there = dict.fromkeys(("lab-controller", "system"), "late.example.com")
    ids = {"job": str(job["job_id"]), "recipe": str(job["recipe_ids"][0]), "distro-tree": "77"}
    return {**named, **there, **ids}


def shown(kind: str, name: str) -> tuple[str, ...]:
    return (kind, name) if kind in ("job", "recipe") else (kind, "show", name)


@pytest.mark.parametrize("kind", LATE)
def test_object__as_of_before_it_was_added__did_not_exist(real: Run, late: dict[str, str], kind: str) -> None:
    result = real(*shown(kind, late[kind]), "--as-of", "3")
    assert result.exit_code == 1
    what = f"{kind.replace('-', ' ')} {late[kind]}"
    assert f"as of position 3, {what} did not exist; it was added at position " in result.stderr
    assert "to list what exists" not in result.stderr
    problem = json.loads(real(*shown(kind, late[kind]), "--as-of", "3", "--json").stderr)
    assert problem["status"] == 404


def test_object__as_of_before_it_was_added__message_has_the_time(real: Run, late: dict[str, str]) -> None:
    (first, *_) = (
        json.loads(one) for one in real("events", "--subject", "user/late", "--json").stdout.splitlines()
    )
    said = real("user", "show", "late", "--as-of", "2000-01-01").stderr
    assert "as of 2000-01-01 00:00:00 (UTC), user late did not exist" in said
    assert f"it was added at position {first['position']}, {first['at'][:10]}" in said


def test_object__added_and_deleted_later__message_has_both(real: Run, late: dict[str, str]) -> None:
    end = str(json.loads(real("group", "delete", "late", "--json").stdout)["position"])
    said = real("group", "show", "late", "--as-of", end).stderr
    assert "group late did not exist" in said and said.rstrip().endswith("and deleted later")


@pytest.mark.usefixtures("late")
def test_object__never_existed__not_found(real: Run) -> None:
    said = real("user", "show", "nobody", "--as-of", "3").stderr
    assert "User nobody not found" in said and "`labledger users`" in said


@pytest.mark.parametrize("command", ["jobs", "queue", "systems", "idle", "users", "usage", "user show late"])
@pytest.mark.usefixtures("late")
def test_answer__as_of__shows_its_moment(real: Run, command: str) -> None:
    end = json.loads(real("queue", "--json").stdout)["position"]
    result = real(*command.split(), "--as-of", str(end))
    assert result.stderr.startswith(f"as of position {end}, 20"), result.output
    assert "as of" not in real(*command.split()).stderr
    assert real(*command.split(), "--as-of", str(end), "--json").stderr == ""


@pytest.mark.usefixtures("late")
def test_list__as_of_when_it_was_empty__says_then(real: Run) -> None:
    assert real("jobs", "--as-of", "1").stdout == "There were no jobs then.\n"
    assert real("queue", "--as-of", "0").stdout == "No recipe waited for a system then.\n"
    assert real("queue", "--as-of", "0").stderr == "as of position 0, before the first event\n"


def test_job__as_of__shows_its_moment(real: Run, late: dict[str, str]) -> None:
    end = json.loads(real("queue", "--json").stdout)["position"]
    result = real("job", late["job"], "--as-of", str(end))
    assert result.stderr.startswith(f"as of position {end}, 20")
    assert "as_of" not in result.stdout
