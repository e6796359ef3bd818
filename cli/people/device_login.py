"""The login of a command at the identity provider of the server, by the device flow (RFC 8628)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import click

from cli.terminal.output import note

if TYPE_CHECKING:
    from api.client import Client

# RFC 8628, section 3.5.
SLOW_DOWN_SECONDS: Final = 5
NOT_FOUND: Final = 404


def device_login(
    client: Client,
    role: str | None,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> dict[str, Any]:
    """Print the address and the code, and return the login once the user has entered the code.

    Raises ServerProblem if it was denied, and ClickException if the code expires or the server has no
    identity provider.
    """
    from api.client import ServerProblem

    try:
        begun = client.post("/login/device")
    except ServerProblem as problem:
        if problem.status != NOT_FOUND:
            raise
        raise click.ClickException("this service takes passwords only; log in without --sso") from None
    note(f"Open {begun['verification_uri']} in a browser, and enter the code {begun['user_code']}")
    if complete := begun["verification_uri_complete"]:
        note(f"or open {complete}")
    body = {"device_code": begun["device_code"]} | ({"role": role} if role else {})
    interval, end = begun["interval_seconds"], clock() + begun["expires_in_seconds"]
    while clock() < end:
        sleep(interval)
        answer = client.post("/login/device/token", body)
        if answer["state"] == "done":
            login: dict[str, Any] = answer["login"]
            return login
        if answer["state"] == "slow_down":
            interval += SLOW_DOWN_SECONDS
    raise click.ClickException("the code has expired; begin again")
