"""Stored snapshots of the notifier's state, so that a start need not read the whole log.

As with those of schedulers, a change of any file of the domain invalidates a snapshot.
"""

from __future__ import annotations

import logging
import uuid
import zlib
from collections.abc import Mapping
from typing import Any, Final

from store.event_log import EventLog
from store.snapshots import code_version, decoded, encoded
from store.sql import SQL

logger = logging.getLogger(__name__)

NAME: Final = "notifier/1"
"""The number changes with the shape of the content, which is no part of `code_version`."""


class NotifierSnapshots:
    """The newest snapshot of the notifier. Each method blocks and raises DatabaseAway."""

    def __init__(self, log: EventLog) -> None:
        self._log = log

    def load(self, upto: int) -> Mapping[str, Any] | None:
        """Return the newest snapshot up to a position, None without a valid one."""
        for attempt, count in self._log.rows(SQL["newest_snapshot"], (NAME, code_version(), upto)):
            for (content,) in self._log.rows(SQL["snapshot_pieces"], (NAME, attempt, 0, count)):
                try:
                    return decoded(content)
                except (zlib.error, ValueError) as error:
                    logger.warning("snapshot of the notifier is unreadable, reading the whole log: %r", error)
        return None

    def save(self, position: int, content: Mapping[str, Any]) -> None:
        """Store a snapshot as of a position, and delete older ones."""
        row = (NAME, uuid.uuid4().hex, code_version(), position, [0], [True], [encoded(content)])
        self._log.rows(SQL["save_snapshot_pieces"], row)
        params = {"name": NAME, "position": position, "span": 1, "reach": 0, "code": code_version()}
        self._log.rows(SQL["delete_older_snapshots"], params)
