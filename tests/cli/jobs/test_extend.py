"""`labledger extend`: what is extended, by how much, and once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from click.testing import Result

from tests.cli.loopback import HANG_UP, Answer, LoopbackServer

Run = Callable[..., Result]
DONE = Answer({"position": 9, "until": "2099-01-02T00:00:00Z"})


@pytest.mark.parametrize(
    ("arguments", "path", "body"),
    [
        (("30", "--by", "2h"), "/recipes/30/extension", {"seconds": 7_200}),
        (
            ("R:30", "--by", "1d 12h", "--reason", "x"),
            "/recipes/30/extension",
            {"seconds": 129_600, "reason": "x"},
        ),
        (("a.b", "--until", "2099-01-02"), "/systems/a.b/extension", {"until": "2099-01-02T00:00:00+00:00"}),
    ],
)
def test_extend__of_a_recipe_or_system__asks_for_it(
    run: Run, server: LoopbackServer, arguments: tuple[str, ...], path: str, body: dict[str, Any]
) -> None:
    server.on("POST", path, DONE)
    found = run("extend", *arguments)
    assert found.exit_code == 0
    assert "extended until 2099-01-02 00:00:00 (UTC)" in found.stdout
    asked = next(each for each in server.asked if each.method == "POST")
    assert asked.json() == body


def test_extend__answer_is_lost__repeats_with_the_same_key(run: Run, server: LoopbackServer) -> None:
    server.on("POST", "/recipes/30/extension", Answer(status=HANG_UP), DONE)
    assert run("extend", "30", "--by", "2h").exit_code == 0
    keys = [each.headers["Idempotency-Key"] for each in server.asked if each.method == "POST"]
    assert len(keys) == 2 and keys[0] == keys[1]


def test_extend__refused__names_the_option(run: Run, server: LoopbackServer) -> None:
    errors = [{"where": "seconds", "message": "the maximum of the lab is 7d in all, of which 1h is left"}]
    server.on("POST", "/recipes/30/extension", Answer({"title": "Invalid input", "errors": errors}, 422))
    assert f"  --by: {errors[0]['message']}" in run("extend", "30", "--by", "9d").stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("30",), "needs either --by or --until"),
        (("30", "--by", "2h", "--until", "2099-01-02"), "needs either --by or --until"),
        (("30", "--by", "soon"), "must be a duration of at least 1s, such as 2h"),
        (("30", "--by", "0s"), "must be a duration of at least 1s, such as 2h"),
        (("J:30", "--by", "2h"), "is a job; must be a recipe: 30 or R:30"),
    ],
)
def test_extend__of_a_wrong_form__is_wrong_usage(run: Run, arguments: tuple[str, ...], said: str) -> None:
    found = run("extend", *arguments)
    assert found.exit_code == 2 and said in found.stderr
