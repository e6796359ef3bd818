"""What `labledger up` says."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from api.client.connection_file import Connection, connection_file
from runtime.settings import Settings, default_data

DEMO_NOT_LOADED = (
    "this data has systems already: the demo lab is not loaded over them, its machines are simulated"
)


def already_running(url: str) -> str:
    return f"Labledger already runs on this data at {url}" if url else "Labledger already starts on this data"


def no_folder(data: Path, error: OSError) -> str:
    is_file = isinstance(error, (FileExistsError, NotADirectoryError))
    why = f"{error.filename} is a file" if is_file else error.strerror
    return f"{data} cannot be the data folder: {why}; name another by --data or LABLEDGER_DATA"


def port_taken(host: str, port: int) -> str:
    return f"port {port} on {host} is taken by another program: choose one with --port, or any with --port 0"


def data(settings: Settings, new_token: str | None, events: int) -> str:
    if new_token is None:
        return f"continuing on existing data in {settings.data}: {events} events"
    return f"new data in {settings.data}"


def not_ready(settings: Settings, faults: Mapping[str, str]) -> str:
    found = "; ".join(f"{name}: {fault}" for name, fault in faults.items())
    return (
        f"{settings.url}/readyz did not answer 200, and for {settings.ready_seconds:g} s nothing moved"
        f"{f' ({found})' if found else ''}"
    )


def catching_up(position: int, end: int) -> str:
    return f"the read models have {position} of {end} events"


def demo_without_token(settings: Settings) -> str:
    return f"the demo needs an admin token, and none is kept in {settings.data}: give it by LABLEDGER_TOKEN"


def ready(settings: Settings, connection: Connection, new_token: str | None) -> str:
    lines = [f"Labledger is ready at {connection.url}"]
    if new_token is not None and sys.stdout.isatty():
        lines += [f"admin token: {new_token}", f"(also kept in {connection_file(settings.data)})"]
    elif new_token is not None:
        # A file or a journal may be readable by others.
        lines += [f"the admin token is kept in {connection_file(settings.data)}"]
    elif connection.token is None:
        lines += [f"no token is kept in {settings.data}: give yours to the commands below by LABLEDGER_TOKEN"]
    name = _name()
    command = name if settings.data == default_data() else f"{_told(settings)} {name}"
    lines += ["", "next, in another terminal:"]
    lines += [
        f"  {command} systems",
        f"  {name} sample kernel-smoke | {command} submit --wait -",
        f"  {command} queue",
        f"  {name} --help",
    ]
    return "\n".join([*lines, "", "Ctrl-C stops everything."])


def _name() -> str:
    """The command line as this person can type it."""
    script = Path(sys.executable).with_name("labledger")
    found = shutil.which("labledger")
    name = "labledger" if found and Path(found) == script else os.path.relpath(script)
    return min(name, str(script), key=len)


def _told(settings: Settings) -> str:
    return f"LABLEDGER_DATA={shlex.quote(str(settings.data))}"
