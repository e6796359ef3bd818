"""`labledger matches`, as people read it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from click.testing import Result

from tests.cli.loopback import Answer, LoopbackServer

Run = Callable[..., Result]

JOB = b"<job/>"
WHERE = "recipe_sets[0].recipes[0]"
FILTER, ARCH = "it does not match the host requirements", "it does not have the architecture"


def system(fqdn: str, *reasons: str) -> dict[str, Any]:
    return {"fqdn": fqdn, "viable": not reasons, "reasons": list(reasons)}


SOME = [system("a"), system("b", FILTER), system("c"), system("d", ARCH, FILTER)]
NONE = [system("a", ARCH)]


def on(server: LoopbackServer, *recipes: tuple[str, list[dict[str, Any]]]) -> None:
    rows = [{"where": where, "systems": systems} for where, systems in recipes]
    server.on("POST", "/matches", Answer({"position": 7, "systems": recipes[0][1], "recipes": rows}))


def test_matches__of_a_job__names_viable_systems_and_counts_the_reasons_for_others(
    server: LoopbackServer, run: Run
) -> None:
    on(server, (WHERE, SOME))
    result = run("matches", "-", input=JOB)
    assert result.exit_code == 0
    said = [line.split(maxsplit=1) for line in result.stdout.splitlines()]
    assert said[0] == ["2", "of 4 systems can run it"]
    assert ["a"] in said and ["c"] in said and ["b"] not in said
    assert said[-2:] == [["2", FILTER], ["1", ARCH]]


def test_matches__every__shows_all_reasons_of_each_system(server: LoopbackServer, run: Run) -> None:
    on(server, (WHERE, SOME))
    said = run("matches", "-", "--every", "--limit", "3", input=JOB).stdout
    assert f"b       no          {FILTER}" in said
    assert "Showing the first 3 of 4; use --limit N for more." in said


def test_matches__recipe_without_a_viable_system__is_named_and_status_1(
    server: LoopbackServer, run: Run
) -> None:
    on(server, (WHERE, SOME), ("recipe_sets[0].recipes[1]", NONE))
    result = run("matches", "-", input=JOB)
    assert result.exit_code == 1
    assert f"{WHERE}: 2 of 4 systems can run it" in result.stdout
    assert "recipe_sets[0].recipes[1]: 0 of 1 system can run it" in result.stdout


def test_matches__of_host_requires_alone__asks_for_just_that(server: LoopbackServer, run: Run) -> None:
    on(server, ("", SOME))
    for alone in ("<hostRequires/>", "<?xml version='1.0'?>\n<!-- mine -->\n<hostRequires>\n</hostRequires>"):
        assert "2 of 4 systems match" in run("matches", "-", input=alone).stdout
        assert server.asked_for("POST", "/matches")[-1].json() == {"host_requires_xml": alone}
    run("matches", "-", input=JOB)
    assert server.asked_for("POST", "/matches")[-1].body == JOB


def test_matches__refused__shows_every_fault(server: LoopbackServer, run: Run) -> None:
    fault = {"where": "line 2, <pool>", "message": 'value: there is no pool "bigg"'}
    refused = {"title": "Invalid input", "status": 422, "detail": "1 error", "errors": [fault]}
    server.on("POST", "/matches", Answer(refused, status=422))
    result = run("matches", "-", input=JOB)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "line 2, <pool>: value: there is no pool" in result.stderr
