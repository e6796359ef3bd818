"""`labledger claims`, and the claim in `labledger recipe`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from click.testing import Result

from tests.cli.loopback import Answer, LoopbackServer

Run = Callable[..., Result]

CLAIM = {"system": "a.b", "forced": True, "since": "2026-01-01T00:00:00Z"}
FORCED: dict[str, Any] = {**CLAIM, "recipe_id": 12, "recipe_set_id": 3, "job_id": 7, "owner": "alice"}
BY_AGE = {**FORCED, "recipe_id": 13, "system": "c.d", "forced": False}


def test_claims__forced_and_by_age__are_rows_that_say_so(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/claims", Answer({"position": 9, "claims": [FORCED, BY_AGE], "next": None}))
    lines = run("claims", "--wide").stdout.splitlines()
    (forced,) = (line for line in lines if "a.b" in line)
    (by_age,) = (line for line in lines if "c.d" in line)
    assert forced.split()[:3] == ["12", "a.b", "yes"]
    assert by_age.split()[:3] == ["13", "c.d", "no"]
    assert forced.split()[-2:] == ["7", "alice"]


def test_claims__system_and_moment__are_sent_and_named_if_there_is_none(
    server: LoopbackServer, run: Run
) -> None:
    as_of = "2026-01-01T00:00:00Z"
    server.on("GET", "/claims", Answer({"position": 9, "as_of": as_of, "claims": [], "next": None}))
    printed = run("claims", "--system", "a.b", "--as-of", "9")
    query = server.asked[0].query
    assert (query["system"], query["as_of"]) == (["a.b"], ["9"])
    assert (printed.exit_code, printed.stdout) == (0, "No recipe claimed a.b then.\n")


@pytest.mark.parametrize(("forced", "said"), [(True, "a.b by force, since "), (False, "a.b, since ")])
def test_recipe__with_a_claim__shows_its_system(
    server: LoopbackServer, run: Run, forced: bool, said: str
) -> None:
    recipe = {"recipe_id": 12, "state": "queued", "position": 9}
    server.on("GET", "/recipes/12", Answer({**recipe, "claim": {**CLAIM, "forced": forced}}))
    assert f"  claim: {said}" in run("recipe", "12").stdout


def test_recipe__without_a_claim__shows_none(server: LoopbackServer, run: Run) -> None:
    server.on("GET", "/recipes/12", Answer({"recipe_id": 12, "state": "queued", "claim": None}))
    assert "claim" not in run("recipe", "12").stdout
