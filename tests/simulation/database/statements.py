"""A table from the text of each statement of the service to the function that answers it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from projections.projector import BEGIN_SESSION
from projections.sql import SQL as READ
from store.log_tables import STATEMENTS, LogTables, Rows
from store.sql import APPENDS
from store.sql import SQL as LOG

if TYPE_CHECKING:
    from tests.simulation.database.server import Server, Statement
    from tests.simulation.database.session import Session

Answer = Callable[["Server", "Session", Any], "Rows"]


def _of_log(answer: Callable[[LogTables, Any], Rows]) -> Answer:
    return lambda server, _, params: answer(server.log, params)


ANSWERS: dict[bytes, Answer] = {
    **{query: _of_log(answer) for query, answer in STATEMENTS.items()},
    LOG["take_lease"]: lambda server, session, params: server.live.take_lease(session, params),
    LOG["renew_lease"]: lambda server, session, params: server.live.renew_lease(session, params),
    LOG["end_hung_holder"]: lambda server, session, params: server.live.end_hung_holder(session, params),
    LOG["newest_snapshot"]: lambda server, _, params: server.live.newest_snapshot(*params),
    LOG["snapshot_pieces"]: lambda server, _, params: server.live.snapshot_pieces(*params),
    LOG["save_snapshot_pieces"]: lambda server, _, params: server.live.save_snapshot_pieces(*params),
    LOG["delete_older_snapshots"]: lambda server, _, params: server.live.delete_older_snapshots(**params),
    LOG["heard"]: lambda server, session, params: server.live.heard(session, params),
    LOG["last_heard"]: lambda server, session, params: server.live.last_heard(),
    LOG["note_registration"]: lambda server, _, params: server.live.note_registration(*params),
    LOG["registered_running"]: lambda server, _, params: server.live.registered_running(*params),
    READ["begin"]: lambda server, _, params: server.read.begin(),
    READ["stored_progress"]: lambda server, _, params: server.read.stored_progress(),
    READ["move"]: lambda server, session, params: server.read.move(session, params),
    READ["notify"]: lambda server, session, params: server.read.notify(session, params),
    # The simulated service answers no question about these sums or the actors of the log, and no search.
    READ["close_hours"]: lambda server, _, params: [],
    READ["store_actor_parts"]: lambda server, _, params: [],
    READ["terms_of_open_blocks"]: lambda server, _, params: [],
    READ["analyze"]: lambda server, _, params: [],
    READ["members"]: lambda server, _, params: server.read.members(params),
    READ["states_of_jobs"]: lambda server, _, params: server.read.states_of_jobs(*params),
    READ["waiting_counts"]: lambda server, _, params: server.read.waiting_counts(),
    READ["idle_of_labs"]: lambda server, _, params: server.read.idle_of_labs(*params),
    b"SELECT 1": lambda server, _, params: [(1,)],
    BEGIN_SESSION.encode(): lambda server, _, params: [(params[0], "off")],
}

# The statements whose answer may be lost after their effect.
WRITING = frozenset(
    {*APPENDS.values(), LOG["take_lease"], LOG["save_snapshot_pieces"], LOG["note_registration"]}
)


def statement_of(server: Server, query: bytes) -> Statement:
    """Return the answer of a statement. Raises AssertionError for a statement that has none yet."""
    if query in ANSWERS:
        answer = ANSWERS[query]
        return lambda session, params: answer(server, session, params)
    of_table = server.read.statement(query)
    assert of_table is not None, f"the simulated database does not know this statement:\n{query.decode()}"
    return of_table
