"""One part, as a process: `python -m workers.verification.part NAME END`, with the URL in its environment.

How texts hash is fixed when a process starts, so whoever wants it otherwise needs another process.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from typing import Any

import orjson

from runtime.processes.garbage_collection import nothing_collected
from runtime.processes.stop_request import StopRequest, listening
from runtime.settings import Settings, require_url
from store.mapper import StoredRow
from workers.verification.audit import AgainstRules
from workers.verification.kind import AUDIT, DECISIONS, Part
from workers.verification.reading import pages
from workers.verification.recomputation import MadeAgain

PARTS: dict[str, Callable[[], Part]] = {DECISIONS: MadeAgain, AUDIT: AgainstRules}


def main() -> None:
    stop = listening()
    name, end = sys.argv[1], int(sys.argv[2])
    url = require_url(Settings.read().database_url)
    # What is folded makes no circles, and what is not kept goes by itself.
    try:
        with nothing_collected():
            _go_through(PARTS[name](), pages(url, end), end, stop)
    except BrokenPipeError:
        # The command that started this process is gone. An ordinary end would write the rest once more.
        os._exit(1)


def _go_through(part: Part, log: Iterable[list[StoredRow]], end: int, stop: StopRequest) -> None:
    for page in log:
        if stop.made():
            return
        if wrong := _unreadable(part, page):
            _say({"found": {"failed": wrong}})
            return
        _say({"position": page[-1].position, "end": end})
    _say({"found": part.found()})


def _unreadable(part: Part, page: list[StoredRow]) -> str | None:
    """Why it cannot go on: what it has not understood is not passed over."""
    try:
        part.take(page)
    except Exception as error:
        first, last = page[0].position, page[-1].position
        return f"between positions {first} and {last}: {type(error).__name__}: {error}"
    return None


def _say(document: dict[str, Any]) -> None:
    sys.stdout.buffer.write(orjson.dumps(document) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
