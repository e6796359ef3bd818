"""Stored snapshots of the scheduler's state, so that the next scheduler need not read the whole log.

A scheduler starts from the newest snapshot. Older ones are kept, one for each span of the recent past, for
explanations. A change of any file of the domain invalidates a snapshot, as does a log that ends before it.
"""

from __future__ import annotations

import logging
import uuid
import zlib
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Final

import orjson

from domain.errors import LabledgerError
from domain.partition_numbers import DEFAULT_PARTITION, PartitionIdentity
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.snapshot import Piece, pieces, restored, restored_systems
from domain.system.state import System
from store.event_log import EventLog
from store.lease import scheduler_lease
from store.sql import SQL

logger = logging.getLogger(__name__)

# One snapshot is kept per this number of events, which take some four seconds to read. A snapshot of a long
# queue has tens of megabytes before it is compressed.
SPAN_EVENTS: Final = 200_000
# Older snapshots are deleted. An earlier state must be folded from the beginning of the log.
REACH_EVENTS: Final = 2_000_000

# PostgreSQL would compress a large piece otherwise, more slowly, and the decisions would wait for it.
COMPRESSION_LEVEL: Final = 1

# A piece with systems has about 10 kB.
PIECES_AT_ONCE: Final = 32

# Rises with each change of `encoded`, so that no snapshot of another encoding is read.
ENCODING_VERSION: Final = 2

# Bytecode and files of editors do not change decisions.
SOURCE_SUFFIXES: Final = (".py", ".json")


# The errors of the decoding of a snapshot.
UNREADABLE: Final = (zlib.error, ValueError, LookupError, TypeError, AttributeError)


class UnreadableSnapshot(LabledgerError):
    """The snapshot cannot be read."""


class Snapshots:
    """The snapshots of one partition. Each method blocks and raises DatabaseAway."""

    def __init__(self, log: EventLog, identity: PartitionIdentity = DEFAULT_PARTITION) -> None:
        self._log = log
        self._identity = identity
        self._name = scheduler_lease(identity)

    def load(self, upto: int | None = None) -> Partition:
        """Return the newest valid snapshot, up to a position if given, or an empty partition."""
        upto = self._log.end() if upto is None else upto
        rows = self._log.rows(SQL["snapshot"], (self._name, code_version(), upto))
        if not rows:
            return Partition(self._identity)
        try:
            return restored((decoded(content) for (content,) in rows), self._identity)
        except UNREADABLE as error:
            logger.warning("snapshot of %s is unreadable, reading the whole log: %r", self._name, error)
            return Partition(self._identity)

    def systems(self) -> Iterator[System] | None:
        """Return the systems of the newest valid snapshot, each as of its version; None without a snapshot.

        The iterator raises UnreadableSnapshot if a piece cannot be decoded, or was deleted meanwhile.
        """
        rows = self._log.rows(SQL["newest_snapshot"], (self._name, code_version(), self._log.end()))
        return self._systems(*rows[0]) if rows else None

    def _systems(self, attempt: str, piece_count: int) -> Iterator[System]:
        try:
            yield from restored_systems(map(decoded, self._pieces_after_head(attempt, piece_count)))
        except UNREADABLE as error:
            raise UnreadableSnapshot(f"a snapshot of {self._name} is unreadable: {error!r}") from error

    def _pieces_after_head(self, attempt: str, piece_count: int) -> Iterator[bytes]:
        """Yield the pieces of a snapshot, PIECES_AT_ONCE a query. Raise LookupError if one is missing."""
        for first in range(1, piece_count, PIECES_AT_ONCE):
            wanted = range(first, min(first + PIECES_AT_ONCE, piece_count))
            rows = self._log.rows(SQL["snapshot_pieces"], (self._name, attempt, wanted.start, wanted.stop))
            if len(rows) < len(wanted):
                raise LookupError("it was deleted")
            yield from (content for (content,) in rows)

    def saving(self, partition: Partition) -> Iterator[None]:
        """Store the partition as it is at the first step, one piece per step. It may change between steps."""
        attempt, position = uuid.uuid4().hex, partition.position
        for number, (piece, is_last) in enumerate(_with_last(pieces(partition))):
            key = (self._name, attempt, number, is_last, code_version(), position)
            self._log.rows(SQL["save_snapshot_piece"], (*key, encoded(piece)))
            yield
        retention = {"span": SPAN_EVENTS, "reach": REACH_EVENTS, "code": code_version()}
        self._log.rows(SQL["delete_older_snapshots"], {"name": self._name, "position": position, **retention})


def encoded(piece: Piece) -> bytes:
    """Return a piece as compressed JSON, as it is stored."""
    return zlib.compress(orjson.dumps(piece), COMPRESSION_LEVEL)


def decoded(content: bytes) -> Piece:
    """Decode a stored piece. Raises zlib.error and ValueError."""
    piece: Piece = orjson.loads(zlib.decompress(content))
    return piece


def _with_last(snapshot: Iterator[Piece]) -> Iterator[tuple[Piece, bool]]:
    """Yield each piece, and whether it is the last. There must be at least one."""
    piece = next(snapshot)
    for following in snapshot:
        yield piece, False
        piece = following
    yield piece, True


@cache
def code_version() -> str:
    """Return the version of the encoding, and a digest of all code and data files of the domain."""
    return f"{ENCODING_VERSION}-{digest_of(resources.files('domain'))}"


def digest_of(folder: Traversable) -> str:
    """Return a digest of the names and contents of the sources in a folder."""
    digest = sha256()
    for name, content in sorted(_sources(folder, folder.name)):
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def _sources(folder: Traversable, path: str) -> list[tuple[str, bytes]]:
    sources: list[tuple[str, bytes]] = []
    for item in folder.iterdir():
        name = f"{path}/{item.name}"
        if item.is_dir():
            sources += _sources(item, name)
        elif item.name.endswith(SOURCE_SUFFIXES):
            sources.append((name, item.read_bytes()))
    return sources
