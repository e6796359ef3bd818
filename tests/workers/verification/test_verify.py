"""`labledger replay verify` on logs in PostgreSQL, with and without planted faults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from domain.events import TOPICS, Change, Event, Recorded, Stamp, event
from domain.scheduling.bitsets.bitmaps import numbers_in
from domain.scheduling.decisions.decide import POLICY_VERSION
from domain.scheduling.supply.labs import Labs
from tests.domain.scheduling.history import live
from tests.domain.scheduling.labs import one_lab
from tests.domain.scheduling.world import World
from tests.harness.databases import TestDatabase
from tests.harness.sessions import owner_session
from tests.replay.audit.planted import opening
from tests.replay.verify.queue_of_three import busy, with_queue_jump
from tests.workers.verification.command import different, found, run, verify
from tests.workers.verification.stored import store


def decisions_in(log: Sequence[Recorded]) -> int:
    return len({(row.commit_end, row.stamp.number) for row in log if row.stamp.basis})


def test_verify__sound_log__every_decision_is_made_again_and_every_commit_audited(
    database: TestDatabase,
) -> None:
    log = live(seed=3, bursts=30, limit=3).log
    store(database, log)
    answer = found(database, status=0)
    audit, parts = answer["audit"], [*answer["hash_seeds"].values(), answer["audit"]]
    assert different(answer) == [0, 0]
    assert (audit["broken"], audit["commits"]) == (0, len({row.commit_end for row in log}))
    assert [part["decisions"] for part in parts] == [decisions_in(log)] * 3
    assert [part["position"] for part in parts] == [len(log)] * 3
    text = verify(database, status=0)
    assert f"{decisions_in(log)} decisions recomputed, all match" in text
    assert "no violations" in text


@pytest.mark.soak
def test_verify__empty_log__has_nothing_to_say_against(database: TestDatabase) -> None:
    text = verify(database, status=0)
    assert "0 decisions" in text
    assert "0 commits" in text


def test_verify__until_a_position__omits_commits_that_end_after_it(database: TestDatabase) -> None:
    log = with_queue_jump(busy().log)
    store(database, log)
    last = sum(row.commit_end == log[-1].commit_end for row in log)
    # Within the commit with the queue jump.
    answer = found(database, "--until", str(len(log) - 1), status=0)
    parts = [*answer["hash_seeds"].values(), answer["audit"]]
    assert [part["position"] for part in parts] == [len(log) - last] * 3
    assert [part["decisions"] for part in parts] == [decisions_in(log) - 1] * 3


def test_verify__planted_queue_jump__is_shown_whole(database: TestDatabase) -> None:
    store(database, with_queue_jump(busy().log))
    text = verify(database, status=1)
    recorded, demanded = text.split("expected", 1)
    assert "recipe/4 recipe.scheduled {'system': 'a'" in recorded
    assert "recipe/3 recipe.scheduled {'system': 'a'" in demanded
    assert "recomputed, 1 differs" in text
    assert "nobody_jumped\n  recipe/4, recipe/3, system/a\n" in text
    assert "violations: nobody_jumped 1" in text


def last_by_name(self: Labs, among: int) -> int:
    """Return the last system by name: a planted fault."""
    return self.number(max(self.names[number] for number in numbers_in(among)))


def test_verify__scheduler_that_chose_the_last_by_name__differs_under_each_hash_seed(
    database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as planted:
        planted.setattr(Labs, "first_by_name", last_by_name)
        store(database, live(seed=1, bursts=40, limit=500).log)
    answer = found(database, status=1)
    assert all(different(answer))
    assert answer["audit"]["broken"] == 0, "any usable system is as good to the rules"


@pytest.mark.soak
def test_verify__more_than_is_shown__is_counted(database: TestDatabase) -> None:
    story = opening()
    for _ in range(12):
        story.commit(("recipe/2", story.log[-1].event))
    store(database, story.log)
    audit = found(database, status=1)["audit"]
    assert audit["broken"] == sum(audit["by_invariant"].values()) > len(audit["violations"]) == 10
    assert f"{audit['broken'] - 10} more violations are not shown" in verify(database, status=1)


def of_policy(row: Recorded, version: int) -> Recorded:
    if row.stamp.basis is None:
        return row
    return row._replace(stamp=replace(row.stamp, basis=replace(row.stamp.basis, policy_version=version)))


@pytest.mark.soak
def test_verify__decisions_of_older_policies__are_counted_separately(database: TestDatabase) -> None:
    log = busy().log
    ends = sorted({row.commit_end for row in log if row.stamp.basis})
    versions = dict(zip(ends, (1, 2), strict=False))
    store(database, [of_policy(row, versions.get(row.commit_end, POLICY_VERSION)) for row in log])
    answer = found(database, status=0)
    assert [each["other_policies"] for each in answer["hash_seeds"].values()] == [{"1": 1, "2": 1}] * 2
    # Policy 2 grants by the same rules.
    assert answer["audit"]["other_policies"] == {"1": 1}
    assert "1 decision of policy version 1, which has other rules" in verify(database, status=0)


def test_verify__requirement_that_nobody_knows__is_a_finding(database: TestDatabase) -> None:
    world = one_lab()
    world.add_idle("a")
    store(database, [*world.log, *asks_for_a_teapot(world)])
    done = run(database)
    assert done.returncode == 1
    assert "understood" in done.stdout
    assert "teapot" in done.stdout
    assert "Traceback" not in done.stderr


def asks_for_a_teapot(world: World) -> list[Recorded]:
    end = world.position
    asked = busy()
    submitted = [row for row in asked.log if row.subject in ("recipe/1", "recipe-set/1")][:2]
    form = '{"element":"teapot","op":"==","value":"brown"}'
    return [
        row._replace(
            position=end + 1 + offset,
            commit_end=end + 2,
            event=replace(row.event, host_requires=form)
            if "host_requires" in row.event.FIELDS
            else row.event,
        )
        for offset, row in enumerate(submitted)
    ]


def test_verify__event_that_nobody_knows__is_not_passed_over(database: TestDatabase) -> None:
    @event("teapot.boiled")
    class TeapotBoiled(Event):
        by: str

    del TOPICS["teapot.boiled"]
    world = World()
    world.add_lab("lab-1")
    happened = Change("teapot/1", TeapotBoiled("ada"), Stamp(world.now, "ada", "request/1"))
    unknown = Recorded(10, 10, world.now, happened.subject, 1, happened.event, happened.stamp)
    with owner_session(database.owner_url) as session:
        session.execute("INSERT INTO log.topics VALUES ('teapot.boiled')")
    store(database, [*world.log, unknown])
    done = run(database)
    assert done.returncode == 1
    assert "could not be recomputed" in done.stdout
    assert "teapot.boiled" in done.stdout
    assert "Traceback" not in done.stderr


def test_verify__database_away__says_so(database: TestDatabase) -> None:
    away = replace(database, service_url="postgresql://127.0.0.1:1/nobody")
    done = run(away)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
