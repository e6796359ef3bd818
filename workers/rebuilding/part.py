"""One part, as a process: `python -m workers.rebuilding.part NAME`, with the URL in its environment.

It is told positions, a line each, and folds up to them; at the end of its input it says what is true now.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import closing
from typing import IO

from postgres.errors import AWAY
from projections.rebuild.parts import Part
from runtime.processes.garbage_collection import nothing_collected
from runtime.settings import Settings
from store.log_part import LogPart
from workers.rebuilding.message import Done, Failed, Message, Reached, say


def main() -> None:
    # The one that started it ends it, and it ends by itself when that one is gone.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    url = Settings.read().database_url
    assert url is not None, "it was given one"
    try:
        # What is folded makes no circles, nearly all of it goes at once or never, and the process soon ends.
        with nothing_collected():
            for message in _folded(Part(sys.argv[1]), url, sys.stdin.buffer):
                say(message, sys.stdout.buffer)
    except BrokenPipeError:
        # Nor can be said what Python would still say at its end.
        os._exit(1)


def _folded(part: Part, url: str, told: IO[bytes]) -> Iterator[Message]:
    """What is not understood, or cannot be read, is not passed over."""
    try:
        with closing(LogPart(url, part.left_out)) as log:
            for line in told:
                part.fold(log.upto(int(line)))
                yield from part.take_ended()
                yield Reached(log.position, part.kept)
        yield from part.take_rest()
        yield Done()
    except AWAY as error:
        yield Failed(str(error).strip(), is_away=True)
    except Exception as error:
        yield Failed(f"{type(error).__name__}: {error}", is_away=False)


if __name__ == "__main__":
    main()
