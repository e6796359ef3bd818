"""The verification of a log: two recomputations with different hash seeds and an audit, in parallel."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, closing
from selectors import EVENT_READ, DefaultSelector
from typing import Any, Final, NamedTuple

from postgres.errors import DatabaseAway, DatabaseFull
from runtime.processes.child import Child
from store.datastore import probe
from store.event_log import EventLog
from workers.progress import ProgressCallback

DECISIONS: Final = "decisions"
AUDIT: Final = "audit"
MAX_SHOWN: Final = 10
"""Maximum number of findings that a check describes; it only counts the others."""


class CheckRun(NamedTuple):
    """The name of a check, and the hash seed of its process."""

    name: str
    hash_seed: str


RECOMPUTATIONS = (CheckRun(DECISIONS, "1"), CheckRun(DECISIONS, "2"))
AUDIT_RUN = CheckRun(AUDIT, "1")


def verify(url: str, on_progress: ProgressCallback, until: int | None = None) -> dict[str, Any]:
    """Return the findings of the recomputations by hash seed (`hash_seeds`), and those of the `audit`.

    The checks read up to the present end of the log, or up to the last commit that ends at `until` or before.
    A check that cannot read the log returns only the reason (`failed`). Raises DatabaseAway and ChildFailed.
    """
    probe(url)
    with closing(EventLog(url, pool_size=1)) as log:
        end = log.end() if until is None else min(until, log.end())
    with ExitStack() as stack:
        children = {
            run: stack.enter_context(closing(_start(url, end, run))) for run in (*RECOMPUTATIONS, AUDIT_RUN)
        }
        found = _findings(children, on_progress)
    return {"hash_seeds": {run.hash_seed: found[run] for run in RECOMPUTATIONS}, "audit": found[AUDIT_RUN]}


def _start(url: str, end: int, run: CheckRun) -> Child:
    return Child(
        f"checks the {run.name}",
        url,
        "workers.verification.child",
        run.name,
        str(end),
        environment={"PYTHONHASHSEED": run.hash_seed},
        errors=(DatabaseAway, DatabaseFull),
    )


def _findings(
    children: Mapping[CheckRun, Child], on_progress: ProgressCallback
) -> dict[CheckRun, dict[str, Any]]:
    """Receive all findings, without threads: after Ctrl-C a thread might read from a closed pipe."""
    reached: dict[CheckRun, int] = {}
    found: dict[CheckRun, dict[str, Any]] = {}
    with DefaultSelector() as selector:
        for run, child in children.items():
            selector.register(child, EVENT_READ, run)
        while selector.get_map():
            for key, _ in selector.select():
                content = children[key.data].receive().content
                if "found" in content:
                    found[key.data] = content["found"]
                    selector.unregister(key.fileobj)
                    continue
                reached[key.data] = content["position"]
                if len(reached) == len(children):
                    on_progress(min(reached.values()), content["end"])
    return found
