"""The check of the conservation laws (design 6.2) over the read models, or over the log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final

import psycopg
from psycopg.rows import dict_row

from domain.recipe.lifecycle import PLACED
from domain.scheduling.world.conservation import LAWS, ORPHANS, SYSTEMS, USAGE
from domain.system.lifecycle import MIRRORED
from postgres.errors import DATABASE_ERRORS, DatabaseAway
from projections.sql import QUERIES
from replay.audit import commits, from_row
from replay.audit.conservation import laws
from replay.audit.log_check import LogCheck
from store.datastore import SERVICE_ROLE, with_keepalive
from workers.progress import ProgressCallback
from workers.verification.child import pages

MAX_SHOWN: Final = 10
"""Maximum number of violations that are described; the others are only counted."""

MAX_POSITION: Final = 2**63 - 1

# What the limits are charged with is in no read model.
LAWS_OF_READ_MODELS: Final = (USAGE, SYSTEMS, ORPHANS)

Session = psycopg.Connection[dict[str, Any]]
Report = dict[str, Any]
"""The `position`, the number of violations by law (`laws`), and the first `violations`.

Over the read models also the number of `systems`, and of those that are used, free and so on.
"""


def check_read_models(url: str, as_of: int | datetime | None = None) -> Report:
    """Check the read models at the present, or at a moment that they have reached. Raises DatabaseAway."""
    with _snapshot(url) as session:
        (row,) = session.execute(QUERIES["progress"]).fetchall()
        return _report(session, min(int(row["position"]), _position(session, as_of)))


@contextmanager
def _snapshot(url: str) -> Iterator[Session]:
    """Open a session that reads one moment of the database."""
    try:
        with psycopg.connect(with_keepalive(url), row_factory=dict_row) as session:
            session.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            session.read_only = True
            session.execute(f"SET ROLE {SERVICE_ROLE}".encode())
            yield session
    except DATABASE_ERRORS as error:
        raise DatabaseAway(str(error)) from error


def _position(session: Session, as_of: int | datetime | None) -> int:
    """Return the end of the last commit up to a position or time; None stands for the present."""
    query = QUERIES["at_time" if isinstance(as_of, datetime) else "at_position"]
    (row,) = session.execute(query, {"wanted": MAX_POSITION if as_of is None else as_of}).fetchall()
    return int(row["position"])


def _report(session: Session, position: int) -> Report:
    params = {"at": position, "placed": list(PLACED), "mirrored": [MIRRORED[state] for state in PLACED]}
    (systems,) = session.execute(QUERIES["systems_by_use"], params).fetchall()
    violations = session.execute(QUERIES["broken_laws"], params).fetchall()
    counts = Counter(row["law"] for row in violations)
    return {
        "position": position,
        "systems": systems,
        "laws": {law: counts[law] for law in LAWS_OF_READ_MODELS},
        "violations": violations[:MAX_SHOWN],
    }


def check_log(url: str, on_progress: ProgressCallback, as_of: int | datetime | None = None) -> Report:
    """Check the log after each commit up to the present or to a moment. Raises DatabaseAway."""
    with _snapshot(url) as session:
        end = _position(session, as_of)
    check, counts, shown, position = LogCheck(laws()), Counter[str](), list[dict[str, Any]](), 0
    for page in pages(url, end):
        for commit in commits(map(from_row, page)):
            for violation in check.check_commit(commit):
                counts[violation.invariant] += 1
                if len(shown) < MAX_SHOWN:
                    subject, what = violation.subjects[0], violation.what
                    shown.append({"law": violation.invariant, "subject": subject, "what": what})
        position = page[-1].position
        on_progress(position, end)
    return {"position": position, "laws": {law: counts[law] for law in LAWS}, "violations": shown}
