"""A client that does not go on is given up: nobody waits for ever for what may never come."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator

import pytest

from tests.harness.lines import Answer, Line, Lines, lines_to
from tests.harness.pool import ServerPool
from tests.harness.running import Running
from tests.harness.watching import serving

IMPATIENT = {"LABLEDGER_REQUEST_SECONDS": "2", "LABLEDGER_KEEPALIVE_SECONDS": "1"}
PAUSE_SECONDS = 0.5


@pytest.fixture(scope="module")
def served(servers: ServerPool) -> Iterator[Running]:
    with servers.databases("embedded").fresh() as database, serving(database, **IMPATIENT) as service:
        yield service


@pytest.fixture
def lines(served: Running) -> Iterator[Lines]:
    with lines_to(served) as lines:
        yield lines


def test_head__comes_a_byte_at_a_time__is_cut_with_a_problem(lines: Lines) -> None:
    one = lines.open()
    one.say(b"GET /healthz HTTP/1.1\r\n")
    answer = _answer_while_saying(one, itertools.repeat(b"X-More: 1\r\n", 30))
    assert answer.status == 408 and "head" in answer.problem()["detail"]
    assert one.last_words() == b""


def test_head__of_a_second_request__is_cut_as_the_first_would_be(lines: Lines) -> None:
    one = lines.open()
    one.ask("GET /healthz")
    assert one.answer().status == 200
    assert _answer_while_saying(one, itertools.repeat(b"G", 30)).status == 408


def test_head__never_begins__is_cut_without_a_word(lines: Lines) -> None:
    assert lines.open().last_words() == b""


def test_connection__idle_after_an_answer__is_ended(lines: Lines) -> None:
    one = lines.open()
    one.ask("GET /healthz")
    assert one.answer().status == 200
    assert one.last_words() == b""


def test_body__stops__is_cut_with_a_problem(lines: Lines) -> None:
    one = lines.open()
    one.ask("POST /login", "Content-Type: application/json", "Content-Length: 100")
    one.say(b'{"user": ')
    answer = one.answer()
    assert answer.status == 408 and "body" in answer.problem()["detail"]
    assert one.last_words() == b""


def test_body__comes_a_byte_at_a_time__is_cut_with_a_problem(lines: Lines) -> None:
    one = lines.open()
    one.ask("POST /login", "Content-Type: application/json", "Content-Length: 40")
    assert _answer_while_saying(one, itertools.repeat(b" ", 30)).status == 408


def test_body__comes_slowly_but_comes_on__is_answered(served: Running, lines: Lines) -> None:
    one = lines.open()
    pieces = [b" " * (64 << 10)] * 8
    length = f"Content-Length: {sum(map(len, pieces))}"
    one.ask("POST /jobs", f"Authorization: Bearer {served.token}", "Content-Type: application/json", length)
    assert _answer_while_saying(one, pieces).status == 400


def test_answer__is_not_taken__connection_is_ended(lines: Lines) -> None:
    one = lines.open(receive_bytes=4096)
    for _ in range(200):
        one.ask("GET /openapi.json")
    one.cut()


def _answer_while_saying(one: Line, pieces: Iterable[bytes]) -> Answer:
    """Until there is one."""
    for piece in pieces:
        time.sleep(PAUSE_SECONDS)
        if one.has_been_told():
            break
        one.say(piece)
    return one.answer()
