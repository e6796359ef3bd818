"""Every decision made again twice, by two processes in which texts hash otherwise; beside them, the audit."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from selectors import EVENT_READ, DefaultSelector
from typing import Any, NamedTuple

import orjson

from domain.errors import LabledgerError
from runtime.settings import variable
from store.datastore import probe
from store.event_log import EventLog
from workers.verification.kind import AUDIT, DECISIONS


class Asked(NamedTuple):
    """A part by its name, and how texts hash in its process."""

    name: str
    hash_seed: str


AGAIN = (Asked(DECISIONS, "1"), Asked(DECISIONS, "2"))
AUDITED = Asked(AUDIT, "1")
ASKED = (*AGAIN, AUDITED)

Told = Callable[[int, int], None]
"""Told of progress: which position the slowest has reached, and which one is to be."""

Said = tuple[Asked, dict[str, Any] | None]
"""What a process says; None when it has said all."""

PIPE_BYTES = 65_536


class PartFailed(LabledgerError):
    """A part of the verification ended without an answer."""


def verify(url: str, told: Told, until: int | None = None) -> dict[str, Any]:
    """What was found: by the hash seed of a process (`hash_seeds`) as `made_again` has it, and by the `audit`
    as `against_rules` does.

    Up to the present end of the log, or the last commit that ends at `until` or before. A part that cannot
    read the log answers only why (`failed`). Raises DatabaseAway and PartFailed.
    """
    probe(url)
    with closing(EventLog(url, pool_size=1)) as log:
        end = log.end() if until is None else min(until, log.end())
    with ExitStack() as stack:
        processes: dict[Asked, subprocess.Popen[bytes]] = {}
        for asked in ASKED:
            processes[asked] = stack.enter_context(_started(url, end, asked))
            stack.callback(processes[asked].terminate)
        answers = _answers(_said(processes), told)
    by_hash_seed = {asked.hash_seed: answers[asked] for asked in AGAIN}
    return {"hash_seeds": by_hash_seed, "audit": answers[AUDITED]}


def _started(url: str, end: int, asked: Asked) -> subprocess.Popen[bytes]:
    """It ends with its standard output: nobody has to look after it. Ctrl-C reaches only who started it."""
    environment = {**os.environ, variable("database_url"): url, "PYTHONHASHSEED": asked.hash_seed}
    command = [sys.executable, "-m", "workers.verification.part", asked.name, str(end)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, start_new_session=True)


def _said(processes: Mapping[Asked, subprocess.Popen[bytes]]) -> Iterator[Said]:
    """What they say, line by line, as it comes.

    Without threads: one would still read when Ctrl-C has its pipe closed.
    """
    begun = dict.fromkeys(processes, b"")
    with DefaultSelector() as selector:
        for asked, process in processes.items():
            assert process.stdout is not None, "it was asked for"
            selector.register(process.stdout, EVENT_READ, asked)
        while selector.get_map():
            for key, _ in selector.select():
                if read := os.read(key.fd, PIPE_BYTES):
                    *lines, begun[key.data] = (begun[key.data] + read).split(b"\n")
                    yield from ((key.data, orjson.loads(line)) for line in lines)
                else:
                    selector.unregister(key.fileobj)
                    yield key.data, None


def _answers(said: Iterator[Said], told: Told) -> dict[Asked, dict[str, Any]]:
    reached: dict[Asked, Mapping[str, Any]] = {}
    answers: dict[Asked, dict[str, Any]] = {}
    for asked, document in said:
        if document is None:
            if asked not in answers:
                raise PartFailed(f"the process of the {asked.name} ended before it was done")
        elif "found" in document:
            answers[asked] = document["found"]
        else:
            reached[asked] = document
            if len(reached) == len(ASKED):
                told(min(each["position"] for each in reached.values()), document["end"])
    return answers
