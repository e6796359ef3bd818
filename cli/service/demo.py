"""The lab of `labledger up --demo`."""

from __future__ import annotations

import json
from importlib.resources import files

from api.client import Client
from api.client.connection_file import Connection
from api.client.lab_file import load as load_lab
from cli.terminal.progress import advancing


def load(connection: Connection) -> bool:
    """Load the sample lab, wait until lists show it, and return True.

    Return False without loading if a system was ever registered: the users may have changed the lab.
    """
    with Client(connection.url, connection.token) as client:
        if client.get("/events", types="system.registered", limit=1)["events"]:
            return False
        lab = json.loads((files("replay") / "samples" / "lab.json").read_text(encoding="utf-8"))
        load_lab(client, lab, advancing)
        client.get("/systems", limit=1, min_position=client.position)
    return True
