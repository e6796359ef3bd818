"""Many threads hand in, one statement writes: each is still answered for itself."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from types import SimpleNamespace

import pytest

from domain.events import Change
from domain.recipe.events import RecipeAborted
from postgres.errors import DatabaseAway
from store import group_commit
from store.event_log import EventLog
from store.group_commit import GATHER_SECONDS, GroupCommit
from store.requests import AppendRequest, Committed, Conflict, Outcome
from tests.harness.appends import STAMP, append_to, positions
from tests.harness.databases import TestDatabase


class Log(EventLog):
    """The real log behind a door that the test opens; it remembers how many requests each append had.

    `knocked` and `refused` tell that a request has come, and that one was sent away.
    """

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.door = threading.Event()
        self.away = threading.Event()
        self.knocked = threading.Event()
        self.refused = threading.Event()
        self.appends: list[int] = []

    def append(self, requests: Sequence[AppendRequest]) -> list[Outcome]:
        self.knocked.set()
        self.door.wait(20)
        if self.away.is_set():
            self.refused.set()
            raise DatabaseAway("away")
        self.appends.append(len(requests))
        return super().append(requests)


@pytest.fixture
def log(database: TestDatabase) -> Iterator[Log]:
    with closing(Log(database.service_url)) as log:
        yield log


@pytest.fixture
def commits(log: Log) -> Iterator[GroupCommit]:
    commits = GroupCommit(log, patience_seconds=1.0)
    yield commits
    log.door.set()
    commits.close()


def test_enqueue__sixteen_threads__fewer_statements_than_requests(log: Log, commits: GroupCommit) -> None:
    log.door.set()

    def write(thread: int) -> list[range]:
        appends = [append_to(f"thread/{thread}", at=version) for version in range(25)]
        return [positions(commits.enqueue(append).result(20)) for append in appends]

    with ThreadPoolExecutor(16) as pool:
        told = [list(written) for written in pool.map(write, range(16))]

    assert sorted(position for thread in told for written in thread for position in written) == list(
        range(1, 401)
    )
    for number, thread in enumerate(told):
        subject = f"thread/{number}"
        assert [recorded.position for recorded in log.load({subject: 0})[subject]] == [
            written[0] for written in thread
        ]
    assert sum(log.appends) == 400
    assert len(log.appends) < 400
    assert (commits.counters.commits, commits.counters.events) == (len(log.appends), 400)


def test_enqueue__one_of_a_group_in_conflict__only_that_one(log: Log, commits: GroupCommit) -> None:
    EventLog.append(log, [append_to("taken")])
    outcomes = answers(
        log, commits, append_to("warm"), append_to("a"), append_to("taken", command_id="late"), append_to("b")
    )

    assert log.appends == [1, 3]
    assert [type(outcome) for outcome in outcomes] == [Committed, Committed, Conflict, Committed]
    assert commits.counters.conflicts == 1


def test_enqueue__same_subject_twice__order_kept_in_two_statements(log: Log, commits: GroupCommit) -> None:
    outcomes = answers(
        log,
        commits,
        append_to("warm"),
        append_to("a"),
        append_to("a", "b", command_id="both"),  # must not overtake the first, nor be overtaken by the next
        append_to("b", command_id="after both"),
        append_to("c"),
    )

    assert log.appends == [1, 2, 1, 1]
    assert [type(outcome) for outcome in outcomes] == [Committed, Committed, Conflict, Committed, Committed]


def test_enqueue__same_command_twice__written_once(log: Log, commits: GroupCommit) -> None:
    _, first, again = answers(log, commits, append_to("warm"), append_to("a"), append_to("a"))

    assert isinstance(again, Committed)
    assert again.repeated
    assert positions(again) == positions(first)


def test_enqueue__one_of_a_group_cannot_be_stored__the_others_are(log: Log, commits: GroupCommit) -> None:
    unstorable = Change("b", RecipeAborted(reason="half a character: \ud800"), STAMP)
    futures = [
        commits.enqueue(append)
        for append in (
            append_to("warm"),
            append_to("a"),
            AppendRequest("bad", (unstorable,), {"b": 0}),
            append_to("c"),
        )
    ]
    log.door.set()

    with pytest.raises(TypeError):
        futures[2].result(20)
    assert [isinstance(futures[number].result(20), Committed) for number in (0, 1, 3)] == [True] * 3


def test_enqueue__database_away_then_back__committed(log: Log, commits: GroupCommit) -> None:
    log.away.set()
    log.door.set()
    future = commits.enqueue(append_to("a"))
    assert log.refused.wait(20)
    assert not future.done()
    log.away.clear()

    assert positions(future.result(20)) == range(1, 2)
    assert commits.counters.retries > 0


def test_enqueue__database_away_for_longer_than_patience__fails_then_serves_again(
    log: Log, commits: GroupCommit
) -> None:
    log.away.set()
    log.door.set()
    with pytest.raises(DatabaseAway):
        commits.enqueue(append_to("a")).result(20)
    log.away.clear()

    assert positions(commits.enqueue(append_to("a")).result(20)) == range(1, 2)


def test_close__requests_handed_in__committed_before_it_returns(log: Log) -> None:
    commits = GroupCommit(log)
    futures = [commits.enqueue(append_to(f"subject/{number}")) for number in range(50)]
    log.door.set()
    commits.close()

    assert all(isinstance(future.result(0), Committed) for future in futures)
    assert log.end() == 50


def answers(log: Log, commits: GroupCommit, *appends: AppendRequest) -> list[Outcome]:
    """The first is on its way alone while the others queue up; then the door opens."""
    futures = [commits.enqueue(appends[0])]
    assert log.knocked.wait(20)
    futures += [commits.enqueue(append) for append in appends[1:]]
    log.door.set()
    return [future.result(20) for future in futures]


def test_submit__several_tasks_of_a_loop__each_hears_of_its_own(log: Log, commits: GroupCommit) -> None:
    log.door.set()

    async def all_of_them() -> list[Outcome | BaseException]:
        appends = [append_to("a"), append_to("b"), append_to("b", at=9), append_to("c")]
        return await asyncio.gather(*map(commits.submit, appends), return_exceptions=True)

    first, second, stale, last = asyncio.run(all_of_them())
    assert isinstance(stale, Conflict)
    found = [each.position for each in (first, second, last) if isinstance(each, Committed)]
    assert found == [log.load({name: 0})[name][0].position for name in "abc"]


def test_close__handed_in_by_a_task_a_moment_ago__committed(log: Log) -> None:
    log.door.set()
    commits = GroupCommit(log)

    async def closed_at_once() -> Outcome:
        waiting = asyncio.create_task(commits.submit(append_to("a")))
        await asyncio.sleep(0)
        commits.close()
        return await waiting

    assert isinstance(asyncio.run(closed_at_once()), Committed)


def test_submit__database_away__raised(log: Log, commits: GroupCommit) -> None:
    log.away.set()
    log.door.set()
    with pytest.raises(DatabaseAway):
        asyncio.run(commits.submit(append_to("a")))


def test_submit__given_up_meanwhile__the_others_are_answered(log: Log, commits: GroupCommit) -> None:
    async def one_gives_up() -> Outcome:
        given_up, kept = (asyncio.create_task(commits.submit(append_to(name))) for name in "ab")
        await asyncio.sleep(0)
        assert await asyncio.to_thread(log.knocked.wait, 20)
        given_up.cancel()
        log.door.set()
        return await kept

    assert isinstance(asyncio.run(one_gives_up()), Committed)


def test_enqueue__after_a_group__what_comes_soon_goes_together(
    log: Log, commits: GroupCommit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as more come; and after one alone, nobody waits."""
    asleep, gathered = threading.Event(), threading.Event()
    slept: list[float] = []

    def gather(seconds: float) -> None:
        slept.append(seconds)
        asleep.set()
        assert gathered.wait(20)

    answers(log, commits, *map(append_to, "abc"))
    clock = SimpleNamespace(sleep=gather, monotonic=time.monotonic)
    monkeypatch.setattr(group_commit, "time", clock)
    first = commits.enqueue(append_to("d"))
    assert asleep.wait(20)
    second = commits.enqueue(append_to("e"))
    gathered.set()
    assert positions(first.result(20)) and positions(second.result(20))
    assert log.appends[-1] == 2
    for name in "fg":
        positions(commits.enqueue(append_to(name)).result(20))
    # Twice for the two that came one after the other, once for who came after them.
    assert log.appends[-2:] == [1, 1] and slept == [GATHER_SECONDS] * 3


def test_enqueue__given_up_before_its_turn__nothing_is_written_and_the_rest_goes_on(
    log: Log, commits: GroupCommit
) -> None:
    """A client that hangs up cancels what it waits for."""
    first = commits.enqueue(append_to("a"))
    given_up = commits.enqueue(append_to("b"))
    cancelled = given_up.cancel()
    log.door.set()

    assert positions(first.result(20)) and positions(commits.enqueue(append_to("c")).result(20))
    assert (log.load({"b": 0}) == {"b": []}) == cancelled


def test_submit__loop_closes_just_when_it_is_to_be_told__the_others_are_served(
    log: Log, commits: GroupCommit, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = threading.Event()

    def too_late(*_: object) -> None:
        told.set()
        raise RuntimeError("Event loop is closed")

    async def ends() -> None:
        loop = asyncio.get_running_loop()
        waiting = asyncio.create_task(commits.submit(append_to("a")))
        assert await asyncio.to_thread(log.knocked.wait, 20)
        with monkeypatch.context() as patched:
            patched.setattr(loop, "call_soon_threadsafe", too_late)
            log.door.set()
            assert told.wait(20)
        waiting.cancel()

    asyncio.run(ends())
    assert positions(commits.enqueue(append_to("b")).result(5))
