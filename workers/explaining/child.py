"""The process that explains. A message asks a question; the answer is a message, too.

The process ends with its input, or when it was not asked for long.
"""

from __future__ import annotations

import os
from typing import Any

from domain.errors import LabledgerError
from runtime.processes.child import Channel, report, run_child
from runtime.processes.garbage_collection import freeze_survivors
from workers.explaining.answers import ANSWERS
from workers.explaining.follower import Follower

# An explanation can wait; a grant cannot.
NICENESS = 5
# Its partitions take as much memory as a scheduler does.
IDLE_SECONDS = 600.0


def answer_questions(parent: Channel, url: str) -> None:
    os.nice(NICENESS)
    freeze_survivors()
    follower = Follower(url)
    while message := parent.receive(IDLE_SECONDS):
        question = message.content
        try:
            answer: dict[str, Any] = ANSWERS[question.pop("about")](follower, **question)
        except LabledgerError as error:
            report(parent, error)
        else:
            parent.send({"answer": answer})


if __name__ == "__main__":
    run_child(answer_questions)
