"""A parser of server-sent events (WHATWG HTML, 9.2.6)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ServerEvent:
    """One message; `id` is the value of Last-Event-ID to resume after it."""

    id: str
    kind: str
    data: str

    def document(self) -> dict[str, Any]:
        document = json.loads(self.data)
        return document if isinstance(document, dict) else {}


def messages(lines: Iterable[str]) -> Iterator[ServerEvent]:
    """Yield the messages of a stream, without one that is cut off: the server sends it again."""
    last_id, kind, data = "", "message", list[str]()
    for line in lines:
        if not line:
            if data:
                yield ServerEvent(last_id, kind, "\n".join(data))
            kind, data = "message", []
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "id":
            last_id = value
        elif field == "event":
            kind = value
        elif field == "data":
            data.append(value)
