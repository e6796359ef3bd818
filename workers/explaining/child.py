"""An explaining process of a partition: `python -m workers.explaining.child NUMBER NAME present|past`.

It answers requests in messages, and ends with its input or when it is idle.
"""

from __future__ import annotations

import sys
from typing import Any

from domain.errors import LabledgerError
from domain.partition_numbers import PartitionIdentity
from runtime.processes.child import Channel, report, run_child
from runtime.processes.garbage_collection import freeze_survivors
from runtime.processes.priority import lower_priority
from workers.explaining.answers import ANSWERS
from workers.explaining.follower import Follower

# A lower priority than that of the scheduler, because an explanation can wait and a grant cannot.
NICENESS = 5
# An idle process ends, because its partition takes as much memory as a scheduler.
IDLE_SECONDS = 600.0


def answer_requests(parent: Channel, url: str) -> None:
    lower_priority(NICENESS)
    freeze_survivors()
    number, name, moment = sys.argv[1:]
    follower = Follower(url, PartitionIdentity(int(number), name), moment)
    while message := parent.receive(IDLE_SECONDS):
        request = message.content
        try:
            answer: dict[str, Any] = ANSWERS[request.pop("about")](follower, **request)
        except LabledgerError as error:
            report(parent, error)
        else:
            parent.send({"answer": answer})


if __name__ == "__main__":
    run_child(answer_requests)
