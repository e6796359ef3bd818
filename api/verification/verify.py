"""Every decision made again twice, by two processes in which texts hash otherwise."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from queue import SimpleQueue
from threading import Thread
from typing import Any

import orjson

from api.settings import variable
from api.store.event_log import EventLog
from domain.errors import LabledgerError

HASH_SEEDS = ("1", "2")

Told = Callable[[int, int], None]
"""Told of progress: which position the slowest has reached, and which one is to be."""

Said = SimpleQueue[tuple[str, dict[str, Any] | None]]
"""What the processes say, by hash seed; None when one has said all."""


class PartFailed(LabledgerError):
    """A part of the verification ended without an answer."""


def verify(url: str, told: Told) -> dict[str, dict[str, Any]]:
    """What each process found, by its hash seed, as `report.of_decisions` has it.

    Up to the present end of the log. Raises DatabaseAway and PartFailed.
    """
    with closing(EventLog(url, pool_size=1)) as log:
        end = log.end()
    with ExitStack() as stack:
        said: Said = SimpleQueue()
        for hash_seed in HASH_SEEDS:
            process = stack.enter_context(_started(url, end, hash_seed))
            stack.callback(process.terminate)
            Thread(target=_listen, args=(hash_seed, process, said), daemon=True).start()
        return _answers(said, told)


def _started(url: str, end: int, hash_seed: str) -> subprocess.Popen[bytes]:
    """It ends with its standard output: nobody has to look after it."""
    environment = {**os.environ, variable("database_url"): url, "PYTHONHASHSEED": hash_seed}
    command = [sys.executable, "-m", "api.verification.part", str(end)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)


def _listen(hash_seed: str, process: subprocess.Popen[bytes], said: Said) -> None:
    assert process.stdout is not None, "it was asked for"
    for line in process.stdout:
        said.put((hash_seed, orjson.loads(line)))
    said.put((hash_seed, None))


def _answers(said: Said, told: Told) -> dict[str, dict[str, Any]]:
    reached: dict[str, Mapping[str, Any]] = {}
    answers: dict[str, dict[str, Any]] = {}
    speaking = set(HASH_SEEDS)
    while speaking:
        hash_seed, document = said.get()
        if document is None:
            if hash_seed not in answers:
                raise PartFailed("a process that makes the decisions again ended before it was done")
            speaking.remove(hash_seed)
        elif "end" in document:
            reached[hash_seed] = document
            if len(reached) == len(HASH_SEEDS):
                told(min(each["position"] for each in reached.values()), document["end"])
        else:
            answers[hash_seed] = document
    return {hash_seed: answers[hash_seed] for hash_seed in HASH_SEEDS}
