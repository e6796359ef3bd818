"""The check of the conservation laws (design 6) over the read models, as of a moment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final

import psycopg
from psycopg.rows import dict_row

from domain.recipe.lifecycle import PLACED, UNPLACED
from domain.scheduling.world.conservation import CLAIMS, ORPHANS, SYSTEMS, USAGE
from domain.system.lifecycle import MIRRORED
from postgres.errors import DATABASE_ERRORS, DatabaseAway
from projections.queue_conservation import Session, misused_queues
from projections.sql import QUERIES

# What the limits are charged with is in no read model.
LAWS_OF_READ_MODELS: Final = (USAGE, SYSTEMS, ORPHANS, CLAIMS)

MAX_POSITION: Final = 2**63 - 1

Moment = int | datetime | None
"""A position, a time, or the present."""


def check_read_models(url: str, role: str, as_of: Moment, max_shown: int) -> dict[str, Any]:
    """Return the position, the systems by use, the violations by law, and the first violations.

    A moment that the read models have not reached counts as the present. Raises DatabaseAway.
    """
    with _snapshot(url, role) as session:
        (row,) = session.execute(QUERIES["progress"]).fetchall()
        position = min(int(row["position"]), _position(session, as_of))
        params = {"at": position, "placed": list(PLACED), "mirrored": [MIRRORED[state] for state in PLACED]}
        params["unplaced"] = list(UNPLACED)
        (systems,) = session.execute(QUERIES["systems_by_use"], params).fetchall()
        violations = session.execute(QUERIES["broken_laws"], params).fetchall()
        violations += misused_queues(session, params)
    counts = Counter(row["law"] for row in violations)
    return {
        "position": position,
        "systems": systems,
        "laws": {law: counts[law] for law in LAWS_OF_READ_MODELS},
        "violations": violations[:max_shown],
    }


def position_of(url: str, role: str, as_of: Moment) -> int:
    """Return the end of the last commit up to a moment. Raises DatabaseAway."""
    with _snapshot(url, role) as session:
        return _position(session, as_of)


@contextmanager
def _snapshot(url: str, role: str) -> Iterator[Session]:
    """Open a session that reads one moment of the database."""
    try:
        with psycopg.connect(url, row_factory=dict_row) as session:
            session.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            session.read_only = True
            session.execute(f"SET ROLE {role}".encode())
            yield session
    except DATABASE_ERRORS as error:
        raise DatabaseAway(str(error)) from error


def _position(session: Session, as_of: Moment) -> int:
    query = QUERIES["at_time" if isinstance(as_of, datetime) else "at_position"]
    (row,) = session.execute(query, {"wanted": MAX_POSITION if as_of is None else as_of}).fetchall()
    return int(row["position"])
