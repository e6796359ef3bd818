"""The messages of `labledger up`."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from api.client.connection_file import Connection, connection_file
from runtime.settings import Settings, default_data

LOADING_DEMO = "loading the demo lab"
DEMO_NOT_LOADED = (
    "the log already has systems, so the demo lab is not loaded; the machines of all labs are simulated"
)


def not_the_demo(lab_controller: str) -> str:
    return (
        f"this is another lab than the demo, with {lab_controller}: its machines would be simulated. Start it"
        " without --demo, or the demo with another data folder (--data DIR)"
    )


def already_running(url: str) -> str:
    return f"Labledger already runs on this data folder{f' at {url}' if url else ''}"


def no_folder(data: Path, error: OSError) -> str:
    is_file = isinstance(error, (FileExistsError, NotADirectoryError))
    cause = f"{error.filename} is a file" if is_file else error.strerror
    return f"{data} cannot be the data folder: {cause}; name another with --data or LABLEDGER_DATA"


def port_taken(host: str, port: int) -> str:
    return f"port {port} on {host} is in use: choose another with --port, or any free port with --port 0"


def data(settings: Settings, new_token: str | None, events: int) -> str:
    if new_token is None:
        return f"using existing data in {settings.data}: {events} events"
    return f"new data in {settings.data}"


def not_ready(settings: Settings, faults: Mapping[str, str]) -> str:
    checks = "; ".join(f"{name}: {fault}" for name, fault in faults.items())
    return (
        f"the services at {settings.url} are not ready, and made no progress for {settings.ready_seconds:g} s"
        f"{f' ({checks})' if checks else ''}"
    )


def catching_up(position: int, end: int) -> str:
    return f"the read models have {position} of {end} events"


def demo_without_token(settings: Settings) -> str:
    return f"the demo needs an admin token, and none is saved in {settings.data}: set LABLEDGER_TOKEN"


def ready(settings: Settings, connection: Connection, new_token: str | None) -> str:
    lines = [f"Labledger is ready at {connection.url}"]
    if new_token is not None and sys.stdout.isatty():
        lines += [f"admin token: {new_token}", f"(also saved in {connection_file(settings.data)})"]
    elif new_token is not None:
        # Standard output may go to a file that others can read.
        lines += [f"the admin token is saved in {connection_file(settings.data)}"]
    elif connection.token is None:
        lines += [f"no token is saved in {settings.data}: set LABLEDGER_TOKEN for the commands below"]
    name = _name()
    command = (
        name
        if settings.data == default_data()
        else f"LABLEDGER_DATA={shlex.quote(str(settings.data))} {name}"
    )
    lines += ["", "Next, in another terminal:"]
    lines += [
        f"  {command} systems",
        f"  {name} sample kernel-smoke | {command} submit --wait -",
        f"  {command} queue",
        f"  {name} --help",
        "",
        f"Web interface: {connection.url}/ui (first set the admin's password: {command} password)",
    ]
    return "\n".join([*lines, "", "Ctrl-C stops everything."])


def _name() -> str:
    script = Path(sys.executable).with_name("labledger")
    found = shutil.which("labledger")
    name = "labledger" if found and Path(found) == script else os.path.relpath(script)
    return min(name, str(script), key=len)
