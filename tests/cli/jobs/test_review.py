"""`labledger review` and `waive`: the requests that they send, and what they say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from click.testing import Result

from tests.cli.loopback import Answer, LoopbackServer

Run = Callable[..., Result]
WHY = ("--reason", "known fault")


@pytest.mark.parametrize(
    ("arguments", "path", "body", "said"),
    [
        (
            *(("review", "RS:3", "acknowledged"), "/recipe-sets/3/review", {"review": "acknowledged"}),
            "recipe set 3 is now acknowledged\n",
        ),
        (
            *(("review", "3", "none"), "/recipe-sets/3/review", {"review": "none"}),
            "recipe set 3 is now without a review\n",
        ),
        (
            *(("waive", "R:30", "T:7"), "/recipes/30/tasks/7/waiver", {"waived": True}),
            "task 7 of recipe 30 is now waived\n",
        ),
        (
            *(("waive", "30", "7", "--revoke"), "/recipes/30/tasks/7/waiver", {"waived": False}),
            "task 7 of recipe 30 is now not waived\n",
        ),
        (
            *(("waive", "RS:3"), "/recipe-sets/3/waiver", {"waived": True}),
            "recipe set 3 is now waived\n",
        ),
    ],
)
def test_review__of_a_set_or_task__asks_for_it_and_says_the_outcome(
    run: Run, server: LoopbackServer, arguments: tuple[str, ...], path: str, body: dict[str, Any], said: str
) -> None:
    server.on("POST", path, Answer({"position": 9, "changed": True}))
    found = run(*arguments, *WHY)
    assert (found.exit_code, found.stdout) == (0, said)
    asked = next(each for each in server.asked if each.method == "POST")
    assert asked.json() == {**body, "reason": "known fault"} and asked.headers["Idempotency-Key"]
    server.on("POST", path, Answer({"position": 9, "changed": False}))
    assert run(*arguments, *WHY).stdout == said.replace("is now", "was already")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("review", "RS:3", "acknowledged"), "Missing option '--reason'"),
        (("review", "J:3", "acknowledged", *WHY), "is a job; must be a recipe set: 3 or RS:3"),
        (("review", "3", "ack", *WHY), "must be one of acknowledged, rejected, none"),
        (
            ("waive", "T:7", *WHY),
            "needs a recipe set such as RS:3, or a recipe and its task such as R:30 T:7",
        ),
        (("waive", "R:30", *WHY), "needs a recipe set such as RS:3"),
        (("waive", "RS:3", "T:7", *WHY), "needs a recipe set such as RS:3"),
        (("waive", "R:30", "RS:7", *WHY), "is a recipe set; must be a task: 7 or T:7"),
    ],
)
def test_review__of_a_wrong_form__is_wrong_usage(run: Run, arguments: tuple[str, ...], said: str) -> None:
    found = run(*arguments)
    assert found.exit_code == 2 and said in found.stderr
