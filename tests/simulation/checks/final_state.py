"""Checks at the end of a seed: new processes agree with the running ones, and no recipe waits in vain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import orjson

from domain.events import Recorded
from domain.intake_states import STOPPED
from domain.partition_numbers import PartitionIdentity
from domain.recipe.lifecycle import FINISHED, UNPLACED
from domain.recipe.state import Recipe
from domain.scheduling.decisions.decide import decide
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.snapshot import restored
from projections.projector import Projector
from store.lease import scheduler_lease
from store.snapshots import code_version, decoded
from tests.domain.scheduling.contents import snapshot_of
from tests.simulation.checks.scheduler_reads import folded
from tests.simulation.database.read_tables import ReadTables
from tests.simulation.database.server import Server
from tests.simulation.database.session import Session
from tests.simulation.service.workers import SchedulerProcess

PAGE = 37
SHOWN = 300


def scheduler_states(
    partitions: Sequence[PartitionIdentity],
    schedulers: Iterable[SchedulerProcess],
    server: Server,
    log: Sequence[Recorded],
) -> Iterator[str]:
    """Yield schedulers whose state differs from that of a fold of the log, or of a snapshot."""
    expected = {identity: _answered(folded(Partition(identity), log)) for identity in partitions}
    for identity, state in expected.items():
        if state is None:
            yield f"a scheduler of {identity.name} that reads the whole log finds something to decide"
    for each in schedulers:
        if each.scheduler is None or _answered(each.scheduler.partition) != expected[each.identity]:
            yield f"{each.process.name} differs from a fold of the log"
        elif each.consistency.findings.never_happen:
            yield f"the consistency loop corrected something: {each.consistency.findings}"
        elif each.scheduler.counters.foreign:
            yield f"{each.process.name} read {each.scheduler.counters.foreign} events of another partition"
    for identity in partitions:
        name = scheduler_lease(identity)
        for attempt, count in server.live.newest_snapshot(name, code_version(), len(log)):
            kept = server.live.snapshot_pieces(name, attempt, 0, count)
            begun = restored((decoded(content) for (content,) in kept), identity)
            position = begun.position
            if _answered(folded(begun, log)) != expected[identity]:
                of = f"the snapshot of {identity.name} at {position}"
                yield f"a scheduler that begins with {of} differs from a fold of the log"


def rest(partitions: Sequence[PartitionIdentity], log: Sequence[Recorded]) -> Iterator[str]:
    """Yield recipes that neither ended nor wait with a reason."""
    folds = (folded(Partition(identity), log) for identity in partitions)
    for recipe in (recipe for partition in folds for recipe in partition.sets.recipes.values()):
        if recipe.state not in (*FINISHED, *UNPLACED):
            yield f"recipe {recipe.recipe_id} is {recipe.state} for ever, on {recipe.system}"
        elif recipe.state in UNPLACED and not _reason(recipe, log):
            yield f"recipe {recipe.recipe_id} is {recipe.state} without a reason"


def read_models(server: Server, log: Sequence[Recorded]) -> Iterator[str]:
    """Yield read models that are behind, or differ from a fold of the log in other pages.

    Call it in a strand.
    """
    live = server.read
    if live.position != len(log):
        yield f"the read models are at {live.position}, the log at {len(log)}"
        return
    server.read = ReadTables(server)
    try:
        projector = Projector(Session(server))  # type: ignore[arg-type]
        for page in pages(log):
            projector.project(page)
        fresh, shown = dict(server.read.dump()), dict(live.dump())
    finally:
        server.read = live
    for table in sorted({*fresh, *shown}):
        of_log, of_live = fresh.get(table, []), shown.get(table, [])
        if of_log != of_live:
            missing = [row for row in of_log if row not in of_live]
            wrong = [row for row in of_live if row not in of_log]
            yield f"read model {table}: missing {missing[:1]}, wrong {wrong[:1]}"[: 3 * SHOWN]


def pages(log: Sequence[Recorded]) -> Iterator[list[Recorded]]:
    """Yield pages of whole commits."""
    page: list[Recorded] = []
    for recorded in log:
        page.append(recorded)
        if recorded.position == recorded.commit_end and len(page) >= PAGE:
            yield page
            page = []
    if page:
        yield page


def _answered(partition: Partition) -> Any:
    """Return the state after the queries that leave no trace, None if something is left to decide.

    A scheduler that waits for the lease never makes these queries. In a stopped partition it does not answer
    the triggers that another one has answered without a decision before the stop, so these are left out.
    """
    if decide(partition, limit=1):
        return None
    state = orjson.loads(snapshot_of(partition))
    if partition.state == STOPPED:
        del state[0][0]["triggers"]
    return state


def _reason(recipe: Recipe, log: Sequence[Recorded]) -> Any:
    own = (each.event for each in reversed(log) if each.subject == recipe.subject)
    return next((getattr(event, "reason", None) for event in own if getattr(event, "STATE", None)), None)
