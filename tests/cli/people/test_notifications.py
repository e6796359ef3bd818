"""`labledger notifications`: the choice in words, and the secret of a webhook."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
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


URL = "https://hook.example.com/b"


def test_set__webhook__has_the_secret_of_a_file_or_a_generated_one_that_is_printed_once(
    server: LoopbackServer, run: Callable[..., Result], tmp_path: Path
) -> None:
    path = "/users/ada/notifications"
    answer = {**CHOICE, "email": None, "mail": None, "webhook": {**WEBHOOK, "url": URL}}
    server.on("GET", path, Answer({**answer, "webhook": None}))
    server.on("PUT", path, Answer(answer))
    file = tmp_path / "secret"
    file.write_text("of a file, long enough\nmore\n")
    given = run("notifications", "set", "ada", "--webhook", URL, "--secret-file", str(file))
    generated = run("notifications", "set", "ada", "--webhook", URL)
    first, second = (orjson.loads(each.body)["webhook"]["secret"] for each in server.asked_for("PUT", path))
    assert first == "of a file, long enough" and first not in given.output
    assert generated.stdout.splitlines()[-1] == f"secret (shown only once): {second}"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--mail", "job-ended", "--no-mail"), "--mail, --no-mail and --default-mail exclude each other."),
        (("--no-webhook", "--webhook", URL), "--no-webhook and --webhook exclude each other."),
    ],
)
def test_set__options_that_exclude_each_other__is_wrong_usage(
    run: Callable[..., Result], options: tuple[str, ...], message: str
) -> None:
    refused = run("notifications", "set", "ada", *options)
    assert refused.exit_code == 2 and message in refused.stderr
