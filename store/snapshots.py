"""Snapshots of the scheduler's state at a position, so that the next scheduler need not read the whole log.

A scheduler starts from the newest snapshot. One older snapshot is kept for each span of the recent past, for
explanations of that time.

A snapshot is valid only for the code that made it: a change of any file of the domain invalidates it. A log
that ends before the snapshot does so, too.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Final

import orjson

from domain.scheduling.world.partition import Partition
from domain.scheduling.world.snapshot import Piece, pieces, restored
from store.event_log import EventLog
from store.sql import SQL

logger = logging.getLogger(__name__)

# One snapshot is kept for this number of events, which are read in some four seconds. With a long queue a
# snapshot has tens of megabytes.
SPAN_EVENTS: Final = 200_000
# Snapshots reach back this far; an earlier state is folded from the beginning of the log.
REACH_EVENTS: Final = 2_000_000


class Snapshots:
    """The snapshots of one partition. Each method blocks and raises DatabaseAway."""

    def __init__(self, log: EventLog, name: str) -> None:
        self._log = log
        self._name = name

    def load(self, upto: int | None = None) -> Partition:
        """Return the partition of the newest valid snapshot, up to a position if given, or an empty one."""
        upto = self._log.end() if upto is None else upto
        rows = self._log.rows(SQL["snapshot"], (self._name, code_version(), upto))
        if not rows:
            return Partition()
        try:
            return restored(orjson.loads(content) for (content,) in rows)
        except (ValueError, LookupError, TypeError) as error:
            logger.warning("snapshot of %s is unreadable, reading the whole log: %r", self._name, error)
            return Partition()

    def saving(self, partition: Partition) -> Iterator[None]:
        """Store the partition as of the first step, a piece at each step. The partition may change between
        steps.
        """
        attempt, position = uuid.uuid4().hex, partition.position
        for number, (piece, is_last) in enumerate(_with_last(pieces(partition))):
            key = (self._name, attempt, number, is_last, code_version(), position)
            self._log.rows(SQL["save_snapshot_piece"], (*key, orjson.dumps(piece)))
            yield
        retention = {"span": SPAN_EVENTS, "reach": REACH_EVENTS, "code": code_version()}
        self._log.rows(SQL["delete_older_snapshots"], {"name": self._name, "position": position, **retention})


def _with_last(made: Iterator[Piece]) -> Iterator[tuple[Piece, bool]]:
    """Yield each piece of at least one, and whether it is the last."""
    piece = next(made)
    for following in made:
        yield piece, False
        piece = following
    yield piece, True


@cache
def code_version() -> str:
    """Return a digest of the names and contents of all files of the domain."""
    digest = sha256()
    for name, content in sorted(_sources(resources.files("domain"), "domain")):
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def _sources(folder: Traversable, path: str) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for item in folder.iterdir():
        name = f"{path}/{item.name}"
        if item.is_dir():
            found += _sources(item, name)
        elif item.name.endswith(".py"):
            found.append((name, item.read_bytes()))
    return found
