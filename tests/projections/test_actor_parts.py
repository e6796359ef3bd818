"""Pages of the events of one actor: exact, however far the read models have come, and of little cost."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from domain.directory.events import PoolRegistered
from domain.events import Recorded
from domain.job.events import JobKeyUsed
from domain.recipe.events import WatchdogSet
from projections.actor_parts import PART_POSITIONS
from store import event_log
from store.event_log import EventLog
from store.migrate import migrations
from store.selection import Selection, subjects_of
from store.sql import BACKWARDS, BOUNDED, MAX_PAGE_BYTES
from tests.harness.appends import whole_log
from tests.harness.databases import TestDatabase
from tests.harness.sessions import Owner, owner_session
from tests.projections.copies import copies
from tests.projections.happened import lab, registered
from tests.projections.projected_log import ProjectedLog
from tests.projections.query_cost import MAX_GROWTH, Queries, pages
from tests.projections.random_history import LABS, POOLS, anything
from tests.projections.rebuild.silent import silent
from tests.projections.recipe_lives import lives
from tests.workers.read_models import forget
from workers import rebuild as worker
from workers.rebuild import check, rebuild

SYSTEMS = tuple("abcdef")
# Most events are by the first two, some commits by the third; the fourth has one event in the middle of the
# log, and the fifth only events that no other table has.
SCHEDULER, LAB, PERSON, RARE, WATCHER = ACTORS = ("scheduler", "east", "ada", "rare", "watcher")
HIDDEN = frozenset({"system/a", "system/b"})


def write_log(models: ProjectedLog, dice: Random, recipes: int = 200) -> None:
    """Append some parts of events by several actors, each commit by one."""
    models.write(*(lab(name) for name in LABS), *((f"pool/{name}", PoolRegistered(None)) for name in POOLS))
    models.write(*(registered(fqdn) for fqdn in SYSTEMS), actor=PERSON)
    for number, commit in enumerate(lives(dice, recipes)):
        models.write(*commit, actor=SCHEDULER if dice.random() < 0.7 else LAB)
        if dice.random() < 0.2:
            models.write(*anything(dice, SYSTEMS), actor=PERSON if dice.random() < 0.1 else SCHEDULER)
        if number == 500:
            models.write(("pool/big", PoolRegistered(None)), actor=RARE)
        if number in (300, 301, 1_000):
            event = WatchdogSet(60) if number != 301 else JobKeyUsed(1)
            models.write((f"recipe/{number}" if number != 301 else "job-key/ada/x", event), actor=WATCHER)


def project(models: ProjectedLog, dice: Random, upto: int) -> None:
    """Fold whole commits up to a position, in pages of random lengths."""
    events, page = models.unread(), list[Recorded]()
    for recorded in events:
        page.append(recorded)
        is_last = recorded.commit_end >= upto
        if recorded.position == recorded.commit_end and (is_last or dice.random() < 0.02):
            models.project(page)
            page = []
            if is_last:
                return


def selections(dice: Random) -> Selection:
    topics = dice.choice((None, None, ("system.idle",), ("recipe.queued", "pool.system-added")))
    subject = dice.choice((None, None, ("recipe/*",), ("system/a", "recipe/17"), ("pool/*", "system/c")))
    hidden = dice.choice(((), ("recipe.queued",)))
    unseen = dice.choice((frozenset(), HIDDEN))
    partition = dice.choice((None, None, 1, 2))
    return Selection(topics, subject, hidden, unseen, partition, dice.choice((*ACTORS, "nobody")))


def is_selected(selection: Selection, recorded: Recorded) -> bool:
    return (
        recorded.stamp.actor == selection.actor
        and selection.has(recorded.event.TOPIC, recorded.subject)
        and selection.has_partition(recorded.partition)
        and selection.sees(subjects_of(recorded))
    )


def by_pages(log: EventLog, selection: Selection, after: int, upto: int, limit: int) -> list[int]:
    positions: list[int] = []
    while after < upto:
        found, after = log.select(after, upto, limit, selection)
        assert len(found) <= limit
        positions += [recorded.position for recorded in found]
    return positions


def by_pages_backwards(log: EventLog, selection: Selection, after: int, upto: int, limit: int) -> list[int]:
    positions: list[int] = []
    while after < upto:
        found, upto = log.select_backwards(after, upto, limit, selection)
        assert len(found) <= limit
        positions += [recorded.position for recorded in found]
    return positions


def require_exact(log: EventLog, whole: list[Recorded], dice: Random, questions: int) -> None:
    """Compare pages of random selections between random positions with a filter of the whole log."""
    found = 0
    for _ in range(questions):
        selection, limit = selections(dice), dice.choice((1, 7, 1_000))
        after, upto = sorted(dice.choices(range(len(whole) + 1), k=2))
        after, upto = dice.choice(((after, upto), (0, len(whole))))
        expected = [each.position for each in whole[after:upto] if is_selected(selection, each)]
        limit = limit if len(expected) < 100 else 1_000
        asked = (selection, after, upto, limit)
        assert by_pages(log, *asked) == expected, asked
        assert by_pages_backwards(log, *asked) == expected[::-1], asked
        found += bool(expected)
    assert found > questions / 10


@pytest.fixture
def span(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a page cover less than a part."""
    monkeypatch.setattr(event_log, "MAX_ACTOR_POSITIONS", 900)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.usefixtures("span")
def test_pages_of_an_actor__any_lag_of_the_read_models__are_a_filter_of_the_log(
    models: ProjectedLog, database: TestDatabase, owner: Owner, seed: int
) -> None:
    dice = Random(seed)
    write_log(models, dice)
    whole = whole_log(models.log)
    end = len(whole)
    assert [each.position for each in whole] == list(range(1, end + 1)) and end > 2 * PART_POSITIONS
    for upto in (0, 700, PART_POSITIONS + 10, 2 * PART_POSITIONS, end):
        if upto:
            project(models, dice, upto)
        require_exact(models.log, whole, dice, 40)
    before = copies(owner)["actor_parts"]
    assert rows(owner) == expected_rows(whole)
    rebuild(database.owner_url, silent)
    assert copies(owner)["actor_parts"] == before
    require_exact(models.log, whole, dice, 20)


def rows(owner: Owner) -> dict[tuple[str, int], int]:
    found = owner.execute("SELECT actor, part, since_position FROM read.actor_parts").fetchall()
    return {(actor, part): since for actor, part, since in found}


def expected_rows(whole: list[Recorded]) -> dict[tuple[str, int], int]:
    firsts = ((each.stamp.actor, each.position // PART_POSITIONS, each.position) for each in reversed(whole))
    return {(actor, part): position for actor, part, position in firsts}


@pytest.fixture
def in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a rebuild fold this short log in parts."""
    monkeypatch.setattr(worker, "FEW_EVENTS", 0)


@pytest.mark.usefixtures("in_parts")
def test_actor_parts__read_models_rebuilt_in_parts_or_migrated__have_the_same_rows(
    models: ProjectedLog, database: TestDatabase, owner: Owner
) -> None:
    dice = Random(3)
    write_log(models, dice)
    whole = whole_log(models.log)
    project(models, dice, len(whole))
    assert rows(owner) == expected_rows(whole)
    assert any(actor == WATCHER for actor, _ in rows(owner)), "skipped events count"
    rebuild(database.owner_url, silent)
    assert rows(owner) == expected_rows(whole)
    owner.execute("DELETE FROM read.actor_parts WHERE actor = %s", (RARE,))
    (difference,) = check(database.owner_url, silent, 10)[1]
    assert difference.table == "actor_parts" and difference.key["actor"] == RARE
    (migration,) = (one.text for one in migrations() if one.name == "2026-12-31-actors-of-events")
    owner.execute("TRUNCATE read.actor_parts")
    with owner.transaction():
        owner.execute(migration[migration.index("LOCK TABLE") :].encode())
    assert rows(owner) == expected_rows(whole)


def test_actor_parts__projector_begins_again_within_a_part__keep_the_first_position(
    models: ProjectedLog, owner: Owner
) -> None:
    first = models.commit(("pool/a", PoolRegistered(None)))
    models.begin_again()
    models.commit(("pool/b", PoolRegistered(None)))
    assert rows(owner) == {("tester", 0): first[0]}


def test_actor_parts__emptied_read_models__are_built_again(models: ProjectedLog, owner: Owner) -> None:
    models.commit(("pool/a", PoolRegistered(None)))
    before = rows(owner)
    forget(owner)
    assert rows(owner) == {}
    models.begin_again()
    models.project(models.unread())
    assert rows(owner) == before


FILL = b"""
INSERT INTO log.events
    (originator_id, originator_version, topic, state, notification_id, commit_end, recorded_at, partition)
SELECT 'lab-controller/' || g, 1, 'lab-controller.' || CASE g %% 10 WHEN 0 THEN 'disabled' ELSE 'enabled' END,
       convert_to('{"version":1,"at":"2026-01-01T00:00:00Z","actor":"'
                  || CASE WHEN g %% 20000 = 7 THEN 'rare' ELSE 'lab-' || g %% 7 END
                  || '","cause":"request/1","data":{}}', 'UTF8'), g, g, now(), 1
FROM generate_series(%(first)s::integer, %(last)s::integer) AS g
"""
PARTS = b"""
INSERT INTO read.actor_parts
SELECT convert_from(state, 'UTF8')::json ->> 'actor', notification_id / 1024, min(notification_id)
FROM log.events GROUP BY 1, 2 ON CONFLICT DO NOTHING
"""
MANY = 40_000


def fill(owner: Owner, first: int, last: int) -> None:
    owner.execute(FILL, {"first": first, "last": last})
    owner.execute(PARTS)
    owner.execute("UPDATE read.progress SET position = %s", (last - 10,))


def queries(end: int) -> Queries:
    """Return the queries for a page of a rare actor, of a common one, and of one without such events."""
    asked: dict[str, tuple[str, str, list[str]]] = {
        "rare": ("rare", "all_between", []),
        "common": ("lab-3", "all_between", []),
        "nobody": ("nobody", "all_between", []),
        "topics of a rare one": ("rare", "selected", ["lab-controller.enabled"]),
        "topics that an actor has not": ("lab-3", "selected", ["user.registered"]),
    }
    nothing: dict[str, Any] = {
        "subjects": [],
        "of_subject": None,
        "hidden": [],
        "unseen": [],
        "partition": None,
    }
    return {
        f"{title}, {way}": (
            statements[f"{name}_of_actor"],
            {
                **nothing,
                "actor": actor,
                "topics": topics,
                "after": 0,
                "upto": end,
                "limit": 20,
                "bytes": MAX_PAGE_BYTES,
                "pool_system_topics": [],
            },
        )
        for title, (actor, name, topics) in asked.items()
        for way, statements in (("forwards", BOUNDED), ("backwards", BACKWARDS))
    }


def test_cost__events_of_an_actor_in_a_log_four_times_as_long__pages_read_few_parts(
    models: ProjectedLog, database: TestDatabase
) -> None:
    with owner_session(database.owner_url) as owner:
        fill(owner, 1, MANY)
        before = pages(owner, queries(MANY))
        fill(owner, MANY + 1, 4 * MANY)
        after = pages(owner, queries(4 * MANY))
        (heap,) = next(iter(owner.execute("SELECT pg_relation_size('log.events') / 8192").fetchall()))
    parts = 4 * MANY // PART_POSITIONS
    for title, touched in after.items():
        if title.startswith("topics that"):
            # Only the index of topics is looked up, for each part.
            assert touched < 5 * parts, (title, touched)
        elif title.startswith(("rare", "topics of")):
            # It has four times as many events.
            assert touched < 4 * MAX_GROWTH * before[title] + 5 and touched < heap / 8, (title, touched)
        else:
            assert touched <= MAX_GROWTH * before[title] + 5, (title, touched, before[title])
