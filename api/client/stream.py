"""Server-sent events: the lines of a stream, read as the standard says (WHATWG HTML, 9.2.6)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ServerEvent:
    """One message; `id` is what a reader resumes after."""

    id: str
    kind: str
    data: str

    def document(self) -> dict[str, Any]:
        document = json.loads(self.data)
        return document if isinstance(document, dict) else {}


def messages(lines: Iterable[str]) -> Iterator[ServerEvent]:
    """The messages of a stream. One cut off before its blank line is not delivered: it comes again."""
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
