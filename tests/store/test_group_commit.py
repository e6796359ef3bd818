"""Tests of group commit: one statement for many requests, an answer for each."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from domain.events import Change
from domain.recipe.events import RecipeAborted
from postgres.errors import DatabaseAway
from store import group_commit
from store.event_log import EventLog
from store.group_commit import GATHER_SECONDS
from store.requests import AppendRequest, Committed, Conflict, Outcome
from tests.harness.appends import STAMP, append_to, positions
from tests.store.looped_commits import LoopedCommits

pytestmark = pytest.mark.promise


class Gate:
    """A gate before `log.append`, which the test opens. It counts the requests of each append.

    `arrived` and `refused` are set when a request arrives at the gate, and when it fails there.
    """

    def __init__(self, log: EventLog) -> None:
        self.append_directly = log.append
        self.is_open = threading.Event()
        self.is_away = threading.Event()
        self.arrived = threading.Event()
        self.refused = threading.Event()
        self.appends: list[int] = []

    def append(self, requests: Sequence[AppendRequest]) -> list[Outcome]:
        self.arrived.set()
        self.is_open.wait(20)
        if self.is_away.is_set():
            self.refused.set()
            raise DatabaseAway("away")
        self.appends.append(len(requests))
        return self.append_directly(requests)


@pytest.fixture
def gate(log: EventLog, monkeypatch: pytest.MonkeyPatch) -> Gate:
    gate = Gate(log)
    monkeypatch.setattr(log, "append", gate.append)
    return gate


@pytest.fixture
def commits(log: EventLog, gate: Gate) -> Iterator[LoopedCommits]:
    commits = LoopedCommits(log, timeout_seconds=1.0)
    yield commits
    gate.is_open.set()
    commits.close()


def test_submit__sixteen_threads__fewer_statements_than_requests(
    log: EventLog, gate: Gate, commits: LoopedCommits
) -> None:
    gate.is_open.set()

    def write(thread: int) -> list[range]:
        appends = [append_to(f"thread/{thread}", at=version) for version in range(25)]
        return [positions(commits.enqueue(append).result(20)) for append in appends]

    with ThreadPoolExecutor(16) as pool:
        answered = [list(written) for written in pool.map(write, range(16))]

    assert sorted(position for thread in answered for written in thread for position in written) == list(
        range(1, 401)
    )
    for number, thread in enumerate(answered):
        subject = f"thread/{number}"
        assert [recorded.position for recorded in log.load({subject: 0})[subject]] == [
            written[0] for written in thread
        ]
    assert sum(gate.appends) == 400
    assert len(gate.appends) < 400
    assert (commits.counters.commits, commits.counters.events) == (len(gate.appends), 400)


def test_submit__one_request_of_a_group_in_conflict__others_succeed(
    gate: Gate, commits: LoopedCommits
) -> None:
    gate.append_directly([append_to("taken")])
    outcomes = answers(
        gate,
        commits,
        append_to("warm"),
        append_to("a"),
        append_to("taken", command_id="late"),
        append_to("b"),
    )

    assert gate.appends == [1, 3]
    assert [type(outcome) for outcome in outcomes] == [Committed, Committed, Conflict, Committed]
    assert commits.counters.conflicts == 1


def test_submit__same_subject_twice__order_kept_in_two_statements(gate: Gate, commits: LoopedCommits) -> None:
    outcomes = answers(
        gate,
        commits,
        append_to("warm"),
        append_to("a"),
        append_to("a", "b", command_id="both"),  # stays between the one before and the one after
        append_to("b", command_id="after both"),
        append_to("c"),
    )

    assert gate.appends == [1, 2, 1, 1]
    assert [type(outcome) for outcome in outcomes] == [Committed, Committed, Conflict, Committed, Committed]


def test_submit__requests_expect_the_same_version__one_statement(gate: Gate, commits: LoopedCommits) -> None:
    outcomes = answers(gate, commits, append_to("warm"), *(beside(name, "shared") for name in "abc"))

    assert gate.appends == [1, 3]
    assert all(isinstance(outcome, Committed) for outcome in outcomes)


def test_submit__one_changes_what_another_expects__the_second_is_refused(
    gate: Gate, commits: LoopedCommits
) -> None:
    outcomes = answers(
        gate, commits, append_to("warm"), beside("a", "shared"), append_to("shared"), beside("b", "shared")
    )

    assert gate.appends == [1, 1, 1, 1]
    assert [type(outcome) for outcome in outcomes[1:]] == [Committed, Committed, Conflict]


def beside(subject: str, expected: str) -> AppendRequest:
    """Return a request that changes one new subject, and expects that another has no version yet."""
    return replace(append_to(subject), expected={subject: 0, expected: 0})


def test_submit__same_command_twice__written_once(gate: Gate, commits: LoopedCommits) -> None:
    _, first, again = answers(gate, commits, append_to("warm"), append_to("a"), append_to("a"))

    assert isinstance(again, Committed)
    assert again.repeated
    assert positions(again) == positions(first)


def test_submit__one_of_a_group_cannot_be_stored__the_others_are(gate: Gate, commits: LoopedCommits) -> None:
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
    gate.is_open.set()

    with pytest.raises(TypeError):
        futures[2].result(20)
    assert [isinstance(futures[number].result(20), Committed) for number in (0, 1, 3)] == [True] * 3


def test_submit__database_away_then_back__committed(gate: Gate, commits: LoopedCommits) -> None:
    gate.is_away.set()
    gate.is_open.set()
    future = commits.enqueue(append_to("a"))
    assert gate.refused.wait(20)
    assert not future.done()
    gate.is_away.clear()

    assert positions(future.result(20)) == range(1, 2)
    assert commits.counters.retries > 0


def test_submit__database_away_for_longer_than_patience__fails_then_serves_again(
    gate: Gate, commits: LoopedCommits
) -> None:
    gate.is_away.set()
    gate.is_open.set()
    with pytest.raises(DatabaseAway):
        commits.enqueue(append_to("a")).result(20)
    gate.is_away.clear()

    assert positions(commits.enqueue(append_to("a")).result(20)) == range(1, 2)


def test_close__requests_queued__committed_before_it_returns(log: EventLog, gate: Gate) -> None:
    commits = LoopedCommits(log)
    futures = [commits.enqueue(append_to(f"subject/{number}")) for number in range(50)]
    gate.is_open.set()
    commits.close()

    assert all(isinstance(future.result(0), Committed) for future in futures)
    assert log.end() == 50


def of(caller: str, *subjects: str, at: int = 0) -> AppendRequest:
    name = f"{caller}: {'+'.join(subjects)}@{at}"
    return replace(append_to(*subjects, at=at, command_id=name), caller=caller)


def position_of(outcome: Outcome) -> int:
    assert isinstance(outcome, Committed)
    return outcome.position


def test_submit__a_flood_of_one_caller__another_one_is_in_the_next_commit(
    gate: Gate, commits: LoopedCommits, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_commit, "MAX_EVENTS", 4)
    flood = [of("flooded", f"flood/{number}") for number in range(12)]
    outcomes = answers(gate, commits, append_to("warm"), *flood, of("other", "other"))

    assert gate.appends == [1, 4, 4, 4, 1]
    # The first one of the flood has its turn before.
    assert position_of(outcomes[-1]) == position_of(outcomes[1]) + 1


def test_submit__several_callers__take_turns_and_each_keeps_its_order(
    gate: Gate, commits: LoopedCommits, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_commit, "MAX_EVENTS", 3)
    appends = [of(caller, f"{caller}/{number}") for caller in "abc" for number in range(3)]
    outcomes = answers(gate, commits, append_to("warm"), *appends)

    names = [request.caller for request in appends]
    in_log = [name for _, name in sorted(zip(map(position_of, outcomes[1:]), names, strict=True))]
    assert in_log == [*"abc"] * 3
    for caller in "abc":
        own = [position_of(one) for one, name in zip(outcomes[1:], names, strict=True) if name == caller]
        assert own == sorted(own)


def test_submit__subject_of_a_flood__another_caller_changes_it_in_the_commit_after_next(
    gate: Gate, commits: LoopedCommits
) -> None:
    """The first commit has a request of the flood, the second is the other caller's."""
    flood = [of("flooded", "shared", at=version) for version in range(4)]
    outcomes = answers(gate, commits, append_to("warm"), *flood, of("other", "shared", at=1))

    assert isinstance(outcomes[-1], Committed)
    assert position_of(outcomes[-1]) == position_of(outcomes[1]) + 1
    assert [type(outcome) for outcome in outcomes[2:-1]] == [Conflict, Committed, Committed]


def answers(gate: Gate, commits: LoopedCommits, *appends: AppendRequest) -> list[Outcome]:
    """Queue all but the first request while the first waits at the gate, then open it."""
    futures = [commits.enqueue(appends[0])]
    assert gate.arrived.wait(20)
    futures += [commits.enqueue(append) for append in appends[1:]]
    gate.is_open.set()
    return [future.result(20) for future in futures]


def test_submit__several_tasks_of_a_loop__each_gets_its_own_outcome(
    log: EventLog, gate: Gate, commits: LoopedCommits
) -> None:
    gate.is_open.set()

    async def all_of_them() -> list[Outcome | BaseException]:
        appends = [append_to("a"), append_to("b"), append_to("b", at=9), append_to("c")]
        return await asyncio.gather(*map(commits.submit, appends), return_exceptions=True)

    first, second, stale, last = asyncio.run(all_of_them())
    assert isinstance(stale, Conflict)
    found = [each.position for each in (first, second, last) if isinstance(each, Committed)]
    assert found == [log.load({name: 0})[name][0].position for name in "abc"]


def test_close__just_submitted_by_a_task__committed(log: EventLog, gate: Gate) -> None:
    gate.is_open.set()
    commits = LoopedCommits(log)

    async def closed_at_once() -> Outcome:
        waiting = asyncio.create_task(commits.submit(append_to("a")))
        await asyncio.sleep(0)
        commits.close()
        return await waiting

    assert isinstance(asyncio.run(closed_at_once()), Committed)


def test_submit__database_away__raised(gate: Gate, commits: LoopedCommits) -> None:
    gate.is_away.set()
    gate.is_open.set()
    with pytest.raises(DatabaseAway):
        asyncio.run(commits.submit(append_to("a")))


def test_submit__cancelled_meanwhile__the_others_are_answered(gate: Gate, commits: LoopedCommits) -> None:
    async def one_gives_up() -> Outcome:
        given_up, kept = (asyncio.create_task(commits.submit(append_to(name))) for name in "ab")
        await asyncio.sleep(0)
        assert await asyncio.to_thread(gate.arrived.wait, 20)
        given_up.cancel()
        gate.is_open.set()
        return await kept

    assert isinstance(asyncio.run(one_gives_up()), Committed)


class Patience(threading.Event):
    """An event whose `wait` lasts until it is set while `is_patient`, otherwise no time."""

    def __init__(self) -> None:
        super().__init__()
        self.is_patient = True
        self.waits = 0
        self.is_waiting = threading.Event()

    def wait(self, timeout: float | None = None) -> bool:
        assert timeout == GATHER_SECONDS
        self.waits += 1
        self.is_waiting.set()
        return super().wait(20 if self.is_patient else 0)


def test_submit__after_a_group__as_many_requests_are_gathered(gate: Gate, commits: LoopedCommits) -> None:
    """The thread waits until each caller of the group has sent another, and not after a single request."""
    patience = commits._enough = Patience()
    answers(gate, commits, *map(append_to, "abc"))
    first = commits.enqueue(append_to("d"))
    assert patience.is_waiting.wait(20)
    second = commits.enqueue(append_to("e"))
    assert positions(first.result(10)) and positions(second.result(10))
    assert gate.appends[-1] == 2 and patience.waits == 1
    patience.is_patient = False
    for name in "fg":
        positions(commits.enqueue(append_to(name)).result(20))
    # Once for the second caller, who sends nothing, and not after the group of one.
    assert gate.appends[-2:] == [1, 1] and patience.waits == 2


def test_submit__cancelled_before_its_turn__nothing_is_written_and_the_others_go_on(
    log: EventLog, gate: Gate, commits: LoopedCommits
) -> None:
    """A client that hangs up cancels its request, which waits while another one is appended."""
    first = commits.enqueue(append_to("a"))
    assert gate.arrived.wait(20)
    given_up = commits.enqueue(append_to("b"))
    cancelled = given_up.cancel()
    commits.settle()
    gate.is_open.set()

    assert positions(first.result(20)) and positions(commits.enqueue(append_to("c")).result(20))
    assert (log.load({"b": 0}) == {"b": []}) == cancelled


def test_submit__loop_closes_just_before_the_answer__the_others_are_served(
    gate: Gate, commits: LoopedCommits, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = threading.Event()

    def too_late(*_: object) -> None:
        answered.set()
        raise RuntimeError("Event loop is closed")

    async def ends() -> None:
        loop = asyncio.get_running_loop()
        waiting = asyncio.create_task(commits.submit(append_to("a")))
        assert await asyncio.to_thread(gate.arrived.wait, 20)
        with monkeypatch.context() as patched:
            patched.setattr(loop, "call_soon_threadsafe", too_late)
            gate.is_open.set()
            assert answered.wait(20)
        waiting.cancel()

    asyncio.run(ends())
    assert positions(commits.enqueue(append_to("b")).result(5))
