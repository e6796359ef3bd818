"""Race for the next version of one subject: `python -m tests.store.racing_writer URL NAME LAST`.

Wait for a line, then print each version that this process won, until the last version exists.
"""

from __future__ import annotations

import sys
from contextlib import closing

from store.event_log import EventLog
from store.requests import Committed
from tests.harness.appends import append_to

SUBJECT = "raced"


def main(url: str, name: str, last: str) -> None:
    with closing(EventLog(url)) as log:
        print("ready", flush=True)
        sys.stdin.readline()
        for version in range(int(last)):
            (outcome,) = log.append([append_to(SUBJECT, at=version, command_id=f"{name}/{version}")])
            if isinstance(outcome, Committed):
                print(version + 1, outcome.position, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
