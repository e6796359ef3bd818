"""What the scheduler knew at a position, kept so that the next one need not read the whole log.

The newest is what a scheduler begins with. Of those before, one is kept for every part of the recent past,
for who asks what was known then.

Good only for the very code that made it: a change of any file of the domain makes it worthless, and so does a
log that ends before it.
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

# Of so many events one stays: they are read in some four seconds. With a deep queue it is tens of megabytes.
SPAN_EVENTS: Final = 200_000
# So far back: what lies before is read from the beginning of the log.
REACH_EVENTS: Final = 2_000_000


class Snapshots:
    """Each call is blocking, and raises DatabaseAway while the database is."""

    def __init__(self, log: EventLog, name: str) -> None:
        self._log = log
        self._name = name

    def load(self, upto: int | None = None) -> Partition:
        """The partition of the newest snapshot, up to a position of the log where one is given; an empty one
        where there is none to be trusted.
        """
        upto = self._log.end() if upto is None else upto
        rows = self._log.rows(SQL["snapshot"], (self._name, code_version(), upto))
        if not rows:
            return Partition()
        try:
            return restored(orjson.loads(content) for (content,) in rows)
        except (ValueError, LookupError, TypeError) as error:
            logger.warning("snapshot of %s is of no use, reading the whole log: %r", self._name, error)
            return Partition()

    def saving(self, partition: Partition) -> Iterator[None]:
        """What the partition knows at the first step. Each stores a piece; it may go on between them."""
        attempt, position = uuid.uuid4().hex, partition.position
        for number, (piece, is_last) in enumerate(_with_last(pieces(partition))):
            key = (self._name, attempt, number, is_last, code_version(), position)
            self._log.rows(SQL["save_snapshot_piece"], (*key, orjson.dumps(piece)))
            yield
        kept = {"span": SPAN_EVENTS, "reach": REACH_EVENTS, "code": code_version()}
        self._log.rows(SQL["forget_older_snapshots"], {"name": self._name, "position": position, **kept})


def _with_last(made: Iterator[Piece]) -> Iterator[tuple[Piece, bool]]:
    """Each piece, and whether it is the last; there is one at least."""
    piece = next(made)
    for following in made:
        yield piece, False
        piece = following
    yield piece, True


@cache
def code_version() -> str:
    """A digest over every file of the domain, by name."""
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
