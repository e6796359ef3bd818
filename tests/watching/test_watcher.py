"""A watcher sends events in pieces, pings, ends or is disconnected, and sends each event once."""

from __future__ import annotations

import asyncio

import pytest

from api.watching import message, watcher
from api.watching.recent import Recent
from api.watching.watcher import PIECE_BYTES, PING_SECONDS, WRITE_SECONDS
from domain.events import Recorded
from postgres.errors import DatabaseAway
from store.selection import Selection
from tests.watching.fake_watchers import Audience, FakeLog, happened, reading, settled

EVERYTHING = Selection()
ONE = Selection(None, ("recipe/1",))


def ids(chunks: list[bytes]) -> list[int]:
    """Return the positions of the sent events."""
    texts = b"".join(chunks).split(b"\n\n")
    return [int(text.split(b"\n")[0].removeprefix(b"id: ")) for text in texts if b"\ndata: " in text]


def test_watcher__silence__is_pinged_with_where_it_would_resume() -> None:
    async def pinged() -> list[bytes]:
        audience = Audience(after=5)
        one = audience.watch(ONE, 5)
        task, chunks = await reading(one)
        audience.append(happened(6, "recipe/2"), happened(7, "recipe/3"))
        await settled()
        one.check(asyncio.get_running_loop().time() + PING_SECONDS)
        await settled()
        audience.append(happened(8, "recipe/1"))
        await settled()
        task.cancel()
        return chunks

    chunks = asyncio.run(pinged())
    assert chunks[1] == b": ping\nid: 7\n\n" and ids(chunks) == [8]


def test_watcher__not_allowed_any_more__its_stream_ends() -> None:
    async def ended() -> Audience:
        audience, allowed = Audience(), [True]
        one = audience.watch(EVERYTHING, 0, lambda: allowed[0])
        task, _ = await reading(one)
        one.check(0)
        await settled()
        assert not task.done()
        allowed[0] = False
        one.check(0)
        await task
        return audience

    audience = asyncio.run(ended())
    assert audience.broadcast.watchers == 0 and not audience.lines[0].is_aborted


@pytest.mark.parametrize("is_missed", [False, True])
def test_watcher__not_allowed_for_a_new_event__does_not_send_it(is_missed: bool) -> None:
    """Visibility is checked for every piece, not only from time to time."""

    async def ended() -> list[bytes]:
        audience, allowed = Audience(0, FakeLog(happened(1))), [True]
        one = audience.watch(EVERYTHING, 0, lambda: allowed[0])
        if is_missed:
            audience.append(happened(1))
            allowed[0] = False
        task, chunks = await reading(one)
        if not is_missed:
            audience.append(happened(1))
            allowed[0] = False
        await settled()
        assert task.done()
        return chunks

    assert ids(asyncio.run(ended())) == []


def test_watcher__write_that_does_not_end__is_disconnected() -> None:
    async def cut() -> Audience:
        audience = Audience()
        one = audience.watch(EVERYTHING, 0)
        await anext(one)
        # The network does not take the piece.
        now = asyncio.get_running_loop().time()
        one.check(now + WRITE_SECONDS / 2)
        assert not audience.lines[0].is_aborted
        with pytest.raises(asyncio.CancelledError):
            one.check(now + WRITE_SECONDS + 1)
            await asyncio.sleep(1)
        return audience

    audience = asyncio.run(cut())
    assert audience.lines[0].is_aborted
    assert audience.broadcast.counters.cut == 1 and audience.broadcast.watchers == 0


def test_watcher__behind_the_recent_events__is_disconnected() -> None:
    async def cut() -> Audience:
        audience = Audience()
        audience.broadcast.recent = Recent(events=10)
        one = audience.watch(EVERYTHING, 0)
        await anext(one)
        live = asyncio.ensure_future(anext(one))
        await settled()
        audience.append(happened(1))
        assert ids([await live]) == [1]
        now = asyncio.get_running_loop().time()
        audience.append(*map(happened, range(2, 20)))
        one.check(now)
        assert not audience.lines[0].is_aborted
        audience.append(*map(happened, range(20, 30)))
        with pytest.raises(asyncio.CancelledError):
            one.check(now)
            await asyncio.sleep(1)
        return audience

    audience = asyncio.run(cut())
    assert audience.lines[0].is_aborted and audience.broadcast.counters.cut == 1


def test_watcher__long_backlog__is_sent_in_pieces() -> None:
    async def sent() -> list[bytes]:
        audience = Audience()
        task, chunks = await reading(audience.watch(EVERYTHING, 0))
        audience.append(*(happened(position, reason="x" * 1_000) for position in range(1, 301)))
        await settled()
        task.cancel()
        return chunks

    pieces = asyncio.run(sent())[1:]
    assert ids(pieces) == list(range(1, 301))
    assert len(pieces) > 5 and max(map(len, pieces)) < PIECE_BYTES + 2_000


def test_watcher__resumes_after_the_end__waits_for_later_events() -> None:
    async def sent() -> list[bytes]:
        audience = Audience(after=5)
        task, chunks = await reading(audience.watch(EVERYTHING, 7))
        audience.append(happened(6), happened(7), happened(8))
        await settled()
        task.cancel()
        return chunks

    assert ids(asyncio.run(sent())) == [8]


def test_watcher__database_away_for_a_while__misses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watcher, "RETRY_SECONDS", 0.001)
    log = FakeLog(*map(happened, range(1, 6)))
    log.faults = [DatabaseAway("gone"), DatabaseAway("gone")]

    async def sent() -> list[bytes]:
        audience = Audience(after=5, log=log)
        task, chunks = await reading(audience.watch(EVERYTHING, 2))
        while not ids(chunks):
            await settled()
        task.cancel()
        return chunks

    assert ids(asyncio.run(sent())) == [3, 4, 5]


def test_watchers__of_the_same_events__share_their_text(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    really = message.server_sent

    def counted(recorded: Recorded, names: message.PartitionNames) -> bytes:
        made.append(recorded.position)
        return really(recorded, names)

    monkeypatch.setattr(message, "server_sent", counted)

    async def sent() -> list[list[bytes]]:
        audience = Audience()
        selections = (EVERYTHING, EVERYTHING, ONE, Selection(("recipe.queued",)))
        readers = [await reading(audience.watch(selection, 0)) for selection in selections]
        audience.append(happened(1), happened(2))
        await settled()
        late = await reading(audience.watch(EVERYTHING, 0))
        for task, _ in (*readers, late):
            task.cancel()
        return [chunks for _, chunks in (*readers, late)]

    assert [ids(each) for each in asyncio.run(sent())] == [[1, 2]] * 5
    assert made == [1, 2]


def test_event__not_selected__is_not_serialised(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(recorded: Recorded, names: message.PartitionNames) -> bytes:
        raise AssertionError(f"{recorded.position} was made text")

    async def sent() -> list[bytes]:
        audience = Audience()
        task, chunks = await reading(audience.watch(ONE, 0))
        monkeypatch.setattr(message, "server_sent", refused)
        audience.append(happened(1, "recipe/2"), happened(2, "system/a.example.com"))
        await settled()
        task.cancel()
        return chunks

    assert ids(asyncio.run(sent())) == []
