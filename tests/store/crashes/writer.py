"""Append numbered commands one after the other: `python -m tests.store.crashes.writer URL COMMANDS`.

Print the number and the first position of each acknowledged commit. Equal numbers are the same commands in
every run.
"""

from __future__ import annotations

import sys
from contextlib import closing

from store.event_log import EventLog
from store.requests import AppendRequest
from tests.harness.appends import append_to, positions
from tests.store.looped_commits import LoopedCommits


def command(number: int) -> AppendRequest:
    return append_to(f"left/{number}", f"right/{number}", command_id=f"command/{number}")


def main(url: str, commands: str) -> None:
    with closing(EventLog(url)) as log, closing(LoopedCommits(log, timeout_seconds=60)) as commits:
        for number in range(int(commands)):
            print(number, positions(commits.enqueue(command(number)).result())[0], flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
