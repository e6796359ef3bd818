"""`labledger notifications show`: the choice in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from click.testing import Result

from tests.cli.loopback import Answer, LoopbackServer

CHOICE: dict[str, Any] = {"position": 9, "default_mail": ["job-ended", "end-near"], "mail": None}
WEBHOOK = {"url": "https://hook.example.com/a", "kinds": ["system-broken"]}


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        (
            {"email": None, "webhook": None},
            [
                "mail: job-ended, end-near (the defaults of the service)",
                "mail address: none is registered, so no mail is sent",
                "webhook: none",
            ],
        ),
        (
            {"email": "ada@example.com", "mail": [], "webhook": WEBHOOK},
            [
                "mail: nothing",
                "mail address: ada@example.com",
                "webhook: system-broken",
                "webhook URL: https://hook.example.com/a",
            ],
        ),
    ],
)
def test_show__choice__is_a_line_for_each_part(
    server: LoopbackServer, run: Callable[..., Result], choice: dict[str, Any], said: list[str]
) -> None:
    server.on("GET", "/users/ada/notifications", Answer({**CHOICE, **choice}))
    assert run("notifications", "show", "ada").stdout.splitlines() == said
