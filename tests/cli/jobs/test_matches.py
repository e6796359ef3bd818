"""Who could run a job, as people read it before they submit it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from click.testing import Result

from tests.cli.loopback import Answer, Server

Run = Callable[..., Result]

JOB = b"<job/>"
WHERE = "recipe_sets[0].recipes[0]"
FILTER, ARCH = "it does not match the host requirements", "it does not have the architecture"


def system(fqdn: str, *reasons: str) -> dict[str, Any]:
    return {"fqdn": fqdn, "viable": not reasons, "reasons": list(reasons)}


SOME = [system("a"), system("b", FILTER), system("c"), system("d", ARCH, FILTER)]
NONE = [system("a", ARCH)]


def on(server: Server, *recipes: tuple[str, list[dict[str, Any]]]) -> None:
    told = [{"where": where, "systems": systems} for where, systems in recipes]
    server.on("POST", "/matches", Answer({"position": 7, "systems": recipes[0][1], "recipes": told}))


def test_matches__of_a_job__names_who_could_run_it_and_counts_what_keeps_others_out(
    server: Server, run: Run
) -> None:
    on(server, (WHERE, SOME))
    result = run("matches", "-", input=JOB)
    assert result.exit_code == 0
    said = [line.split(maxsplit=1) for line in result.stdout.splitlines()]
    assert said[0] == ["2", "of 4 systems can run it"]
    assert ["a"] in said and ["c"] in said and ["b"] not in said
    assert said[-2:] == [["2", FILTER], ["1", ARCH]]


def test_matches__every__tells_all_that_keeps_each_out(server: Server, run: Run) -> None:
    on(server, (WHERE, SOME))
    said = run("matches", "-", "--every", "--limit", "3", input=JOB).stdout
    assert f"b       no          {FILTER}" in said
    assert "Showing the first 3 of 4; use --limit N for more." in said


def test_matches__a_recipe_that_nobody_could_run__is_named_and_status_1(server: Server, run: Run) -> None:
    on(server, (WHERE, SOME), ("recipe_sets[0].recipes[1]", NONE))
    result = run("matches", "-", input=JOB)
    assert result.exit_code == 1
    assert f"{WHERE}: 2 of 4 systems can run it" in result.stdout
    assert "recipe_sets[0].recipes[1]: 0 of 1 system can run it" in result.stdout


def test_matches__of_host_requires_alone__asks_for_just_that(server: Server, run: Run) -> None:
    on(server, ("", SOME))
    for alone in ("<hostRequires/>", "<?xml version='1.0'?>\n<!-- mine -->\n<hostRequires>\n</hostRequires>"):
        assert "2 of 4 systems match" in run("matches", "-", input=alone).stdout
        assert server.asked_for("POST", "/matches")[-1].json() == {"host_requires_xml": alone}
    run("matches", "-", input=JOB)
    assert server.asked_for("POST", "/matches")[-1].body == JOB


def test_matches__refused__tells_every_fault(server: Server, run: Run) -> None:
    fault = {"where": "line 2, <pool>", "message": 'value: there is no pool "bigg"'}
    refused = {"title": "Invalid input", "status": 422, "detail": "1 error", "errors": [fault]}
    server.on("POST", "/matches", Answer(refused, status=422))
    result = run("matches", "-", input=JOB)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "line 2, <pool>: value: there is no pool" in result.stderr
