"""Import and export of Beaker's CSV files, through the API."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from api.client.calls import Client
from api.intake.beaker_columns import POWER, USER_GROUP
from api.intake.beaker_export import header, rows
from domain.errors import Fault, Unreadable

PATH = "/imports/beaker"
JSON = "application/json"
# An import of many systems is one request, whose answer takes longer than that of others.
ANSWER_SECONDS = 600.0


def import_files(client: Client, files: Sequence[tuple[str, bytes]], *, dry_run: bool) -> dict[str, Any]:
    """Import files, each a name and its content. Raises Unreadable if one is not UTF-8."""
    body = {"files": [{"name": name, "text": text} for name, text in _texts(files)]}
    with client.another(answer_seconds=ANSWER_SECONDS) as asking:
        answer: dict[str, Any] = asking.post(PATH, body, dry_run="true" if dry_run else None)
        client.position = asking.position
    return answer


def _texts(files: Sequence[tuple[str, bytes]]) -> list[tuple[str, str]]:
    texts, faults = [], []
    for name, content in files:
        try:
            texts.append((name, content.decode("utf-8")))
        except UnicodeDecodeError as error:
            faults.append(Fault(name, f"is not UTF-8 at byte {error.start}"))
    if faults:
        raise Unreadable(faults)
    return texts


def export(client: Client, kind: str, **filters: str | int | None) -> Iterator[str]:
    """Yield the parts of the file of a kind, as of one moment; `filters` are those of the systems.

    Power settings are the present ones.
    """
    yield header(kind)
    path, name = ("/groups", "groups") if kind == USER_GROUP else ("/inventory", "systems")
    power = _power_settings(client) if kind == POWER else {}
    for page in client.text_pages(path, JSON, **filters):
        items = json.loads(page)[name]
        yield rows(kind, ({**item, "power": power.get(item["fqdn"])} for item in items) if power else items)


def _power_settings(client: Client) -> dict[str, Any]:
    found = client.pages("/power-settings", "power_settings")["power_settings"]
    return {settings["fqdn"]: settings for settings in found}
