"""Pages of the events of one actor: exact, however far the read models have come."""

from __future__ import annotations

from random import Random

import pytest

from domain.events import Recorded
from postgres.log_parts import PART_POSITIONS
from store import event_log
from store.event_log import EventLog
from store.selection import Selection, subjects_of
from tests.harness.appends import whole_log
from tests.harness.databases import TestDatabase
from tests.harness.sessions import Owner
from tests.projections.copies import copies
from tests.projections.logs_of_actors import ACTORS, expected_rows, project, rows, write_log
from tests.projections.projected_log import ProjectedLog
from tests.projections.rebuild.silent import silent
from workers.rebuild import rebuild

HIDDEN = frozenset({"system/a", "system/b"})


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


@pytest.mark.soak
@pytest.mark.usefixtures("span")
def test_pages_of_an_actor__any_lag_of_the_read_models__are_a_filter_of_the_log(
    models: ProjectedLog, database: TestDatabase, owner: Owner
) -> None:
    dice = Random(1)
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
