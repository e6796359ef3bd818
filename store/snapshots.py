"""Stored snapshots of the scheduler's state, so that the next scheduler need not read the whole log.

A scheduler starts from the newest snapshot. Older ones are kept, one for each span of the recent past, for
explanations. A change of any file of the domain invalidates a snapshot, as does a log that ends before it.
"""

from __future__ import annotations

import logging
import uuid
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from hashlib import sha256
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import islice
from typing import Any, Final

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

# PostgreSQL would compress a large piece otherwise, more slowly.
COMPRESSION_LEVEL: Final = 1

# A piece has some 10 kB; one with filters has more, in a large lab 100 kB.
PIECES_PER_QUERY: Final = 200
# Maximum number of snapshots that `load` begins to read. A scheduler deletes one only after it has written a
# newer one, which takes seconds.
MAX_LOADS: Final = 5

# Rises with each change of `encoded`, so that no snapshot of another encoding is read.
ENCODING_VERSION: Final = 2

# Bytecode and files of editors do not change decisions.
SOURCE_SUFFIXES: Final = (".py", ".json")


# The errors of the decoding of a snapshot.
UNREADABLE: Final = (zlib.error, ValueError, LookupError, TypeError, AttributeError)


class UnreadableSnapshot(LabledgerError):
    """The snapshot cannot be read."""


class _Deleted(LookupError):
    """A snapshot was deleted while it was read."""


class Snapshots:
    """The snapshots of one partition. Each method blocks and raises DatabaseAway."""

    def __init__(self, log: EventLog, identity: PartitionIdentity = DEFAULT_PARTITION) -> None:
        self._log = log
        self._identity = identity
        self._name = scheduler_lease(identity)

    def load(self, upto: int | None = None) -> Partition:
        """Return the newest valid snapshot, up to a position if given, or an empty partition."""
        for _ in range(MAX_LOADS):
            rows = self._newest(upto)
            if not rows:
                break
            try:
                return restored(map(decoded, self._pieces(*rows[0], first=0)), self._identity)
            except _Deleted:
                # The scheduler that holds the lease has written a newer one.
                continue
            except UNREADABLE as error:
                logger.warning("snapshot of %s is unreadable, reading the whole log: %r", self._name, error)
                break
        else:
            logger.warning("%d snapshots of %s were deleted while they were read", MAX_LOADS, self._name)
        return Partition(self._identity)

    def systems(self) -> Iterator[System] | None:
        """Return the systems of the newest valid snapshot, each as of its version; None without a snapshot.

        The iterator raises UnreadableSnapshot if a piece cannot be decoded, or was deleted meanwhile.
        """
        rows = self._newest()
        return self._systems(*rows[0]) if rows else None

    def _newest(self, upto: int | None = None) -> Sequence[tuple[str, int]]:
        """Return the id and the number of pieces of the newest snapshot, if there is one."""
        upto = self._log.end() if upto is None else upto
        return self._log.rows(SQL["newest_snapshot"], (self._name, code_version(), upto))

    def _systems(self, attempt: str, piece_count: int) -> Iterator[System]:
        try:
            yield from restored_systems(map(decoded, self._pieces(attempt, piece_count, first=1)))
        except UNREADABLE as error:
            raise UnreadableSnapshot(f"a snapshot of {self._name} is unreadable: {error!r}") from error

    def _pieces(self, attempt: str, piece_count: int, first: int) -> Iterator[bytes]:
        """Yield the pieces of a snapshot, PIECES_PER_QUERY a query. Raise _Deleted if one is missing.

        A thread reads the next ones while the present ones are decoded.
        """

        def read(begin: int) -> list[bytes]:
            wanted = range(begin, min(begin + PIECES_PER_QUERY, piece_count))
            rows = self._log.rows(SQL["snapshot_pieces"], (self._name, attempt, wanted.start, wanted.stop))
            if len(rows) < len(wanted):
                raise _Deleted(f"{len(wanted) - len(rows)} pieces")
            return [content for (content,) in rows]

        with ThreadPoolExecutor(1, "snapshot") as thread:
            following = thread.submit(read, first)
            for begin in range(first + PIECES_PER_QUERY, piece_count, PIECES_PER_QUERY):
                found = following.result()
                following = thread.submit(read, begin)
                yield from found
            yield from following.result()

    def save(self, partition: Partition) -> None:
        """Store the partition as it is now."""
        for step in self.saving(partition):
            step()

    def saving(self, partition: Partition, pieces_per_step: int = 1) -> Iterator[Callable[[], None]]:
        """Yield the steps that store the partition as it is when the first one is taken. The partition may
        change afterwards.

        Run the steps one after another, in any thread; the next one may be taken while one runs. Each stores
        `pieces_per_step` pieces, which are encoded when it is taken; the last one deletes older snapshots.
        """
        attempt, position = uuid.uuid4().hex, partition.position
        stored = (
            (number, is_last, encoded(piece))
            for number, (piece, is_last) in enumerate(_with_last(pieces(partition)))
        )
        while some := list(islice(stored, pieces_per_step)):
            columns = map(list, zip(*some, strict=True))
            row = (self._name, attempt, code_version(), position, *columns)
            yield partial(self._run, "save_snapshot_pieces", row)
        retention = {"span": SPAN_EVENTS, "reach": REACH_EVENTS, "code": code_version()}
        older = {"name": self._name, "position": position, **retention}
        yield partial(self._run, "delete_older_snapshots", older)

    def _run(self, name: str, params: Any) -> None:
        self._log.rows(SQL[name], params)


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
