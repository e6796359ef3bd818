"""Streams of jobs, a job a line: answers while the client still sends, ends at any place."""

from __future__ import annotations

import asyncio
import json
import signal
import time
import uuid
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest

from api.intake.limits import MAX_BODY_BYTES
from api.rest.resources.job_stream import MAX_LINES, LineRefused, line_batches
from tests.harness.pool import ServerPool
from tests.harness.raw_connections import RawConnection, RawConnections, raw_connections
from tests.harness.running import Running
from tests.harness.waiting import wait_until
from tests.harness.watching import serving
from tests.rest.actions import People
from tests.rest.jobs.stream_lines import OPEN, numbered

NDJSON = "application/x-ndjson"


def stream(client: httpx.Client, *lines: bytes, **headers: str) -> list[Any]:
    """Return the answer for each line."""
    answer = client.post("/jobs", content=iter(lines), headers={"Content-Type": NDJSON, **headers})
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


def test_stream__good_and_bad_lines__each_has_its_answer(people: People) -> None:
    in_xml = json.dumps("<job open='true'/>").encode() + b"\n"
    surrogate = b'"<job>\xed\xa0\x80</job>"\n'
    texts = (OPEN, b"\n", b'{"open": 7}\n', b"{\n", in_xml, b'"x\n', surrogate, OPEN)
    answers = stream(people["alice"], *texts)
    assert numbered(answers) == [(1, 201), (3, 422), (4, 400), (5, 201), (6, 400), (7, 400), (8, 201)]
    assert {error["message"] for error in answers[1]["errors"]} >= {"must be true or false"}
    for answer in (answers[0], answers[3]):
        path = f"/jobs/{answer['job_id']}/original"
        wait_until(lambda path=path: people["alice"].get(path).status_code == 200, path)


def test_stream__of_many_batches__answers_in_order(people: People) -> None:
    answers = stream(people["alice"], OPEN * (2 * MAX_LINES + 1))
    assert numbered(answers) == [(number, 201) for number in range(1, 2 * MAX_LINES + 2)]
    assert len({answer["job_id"] for answer in answers}) == 2 * MAX_LINES + 1


def test_stream__empty__has_no_answers(people: People) -> None:
    assert stream(people["alice"]) == stream(people["alice"], b"\n\n") == []


def test_stream__repeated_with_its_key__submits_only_what_is_new(people: People) -> None:
    alice, key = people["alice"], {"Idempotency-Key": uuid.uuid4().hex}
    first = stream(alice, OPEN, OPEN, **key)
    again = stream(alice, OPEN, OPEN, OPEN, **key)
    assert again[:2] == first and numbered(again)[2] == (3, 201)
    other = stream(alice, b'{"open": true}\n', **key)
    assert other[0]["status"] == 422 and other[0]["errors"][0]["where"] == "Idempotency-Key"


def test_stream__with_a_line_that_is_too_long__keeps_the_lines_before_it(people: People) -> None:
    answers = stream(people["alice"], OPEN, b" " * (MAX_BODY_BYTES + 1), OPEN)
    assert numbered(answers) == [(1, 201), (2, 413)]
    assert str(MAX_BODY_BYTES) in answers[1]["errors"][0]["message"]


def test_stream__whose_last_line_has_no_end__does_not_submit_it(people: People) -> None:
    answers = stream(people["alice"], OPEN, OPEN.rstrip())
    assert numbered(answers) == [(1, 201), (2, 400)]
    assert "newline" in answers[1]["errors"][0]["message"]


def test_stream__with_a_list_in_a_line__refuses_it(people: People) -> None:
    answers = stream(people["alice"], b'{"jobs": [{"open": true}]}\n')
    assert numbered(answers) == [(1, 422)] and "not a list" in answers[0]["errors"][0]["message"]


def test_stream__in_pieces_of_a_byte__is_the_same_stream(people: People) -> None:
    answers = stream(people["alice"], *(bytes([byte]) for byte in OPEN * 2))
    assert numbered(answers) == [(1, 201), (2, 201)]


@pytest.fixture
def connections(service: Running) -> Iterator[RawConnections]:
    with raw_connections(service) as connections:
        yield connections


def begin(connection: RawConnection, token: str) -> None:
    """Send the head of a stream, and wait until the server is ready for the body."""
    fields = (f"Authorization: Bearer {token}", f"Content-Type: {NDJSON}", "Transfer-Encoding: chunked")
    connection.send_head("POST /jobs", *fields, "Expect: 100-continue")
    assert connection.read_until(b"\r\n\r\n").startswith(b"HTTP/1.1 100 ")


def send(connection: RawConnection, text: bytes) -> None:
    connection.send(b"%x\r\n%b\r\n" % (len(text), text))


def answer_of(connection: RawConnection) -> Any:
    connection.read_until(b'{"line"')
    return json.loads('{"line"' + connection.read_until(b"}\n").decode())


def test_stream__while_it_lasts__answers_before_the_next_line_is_sent(
    service: Running, connections: RawConnections
) -> None:
    connection = connections.open()
    begin(connection, service.token)
    for number in (1, 2, 3):
        send(connection, OPEN)
        answer = answer_of(connection)
        assert (answer["line"], answer["status"]) == (number, 201)
    connection.send(b"0\r\n\r\n")
    connection.read_until(b"0\r\n\r\n")


def test_stream__that_breaks_off_within_a_line__keeps_what_was_answered(
    service: Running, client: httpx.Client, connections: RawConnections
) -> None:
    whiteboard = uuid.uuid4().hex
    line = json.dumps({"open": True, "whiteboard": whiteboard}).encode()
    connection = connections.open()
    begin(connection, service.token)
    send(connection, line + b"\n" + line)
    kept = answer_of(connection)["job_id"]
    connection.close()
    last = client.post("/jobs", json={"open": True, "whiteboard": whiteboard}).json()["job_id"]

    def found() -> set[int]:
        jobs = client.get("/jobs", params={"whiteboard": whiteboard}).json()["jobs"]
        return {job["job_id"] for job in jobs}

    wait_until(lambda: last in found(), "the job that was submitted last")
    assert found() == {kept, last}


def test_stream__that_breaks_off_within_a_long_chunk__leaves_the_rest_of_it(
    service: Running, client: httpx.Client, connections: RawConnections
) -> None:
    whiteboard = uuid.uuid4().hex
    line = json.dumps({"open": True, "whiteboard": whiteboard}).encode() + b"\n"
    connection = connections.open()
    begin(connection, service.token)
    send(connection, line * 20 * MAX_LINES)
    answer_of(connection)
    connection.close()
    # Each batch that the server still submits is in the log long before the end of the pause.
    last = client.post("/jobs", json={"open": True, "whiteboard": whiteboard}).json()["job_id"]
    time.sleep(1)
    end = service.end()
    found = client.get("/jobs", params={"whiteboard": whiteboard, "limit": 1000, "min_position": end}).json()
    assert last in {job["job_id"] for job in found["jobs"]}
    # The answered batch, two more, and the last job.
    assert len(found["jobs"]) <= 3 * MAX_LINES + 1


def test_stream__with_the_key_of_one_commit__is_refused(people: People) -> None:
    alice, key = people["alice"], {"Idempotency-Key": uuid.uuid4().hex}
    assert alice.post("/jobs", json=json.loads(OPEN), headers=key).status_code == 201
    answer = alice.post("/jobs", content=OPEN, headers={"Content-Type": NDJSON, **key})
    assert answer.status_code == 422
    other = {"Idempotency-Key": uuid.uuid4().hex}
    assert numbered(stream(alice, OPEN, **other)) == [(1, 201)]
    assert alice.post("/jobs", json=json.loads(OPEN), headers=other).status_code == 422


def test_stream__with_a_malformed_chunk__ends_without_a_second_answer(
    service: Running, connections: RawConnections
) -> None:
    connection = connections.open()
    begin(connection, service.token)
    send(connection, OPEN)
    assert answer_of(connection)["status"] == 201
    connection.send(b"no number\r\n")
    assert b"HTTP/1.1" not in connection.read_to_end()


def test_stream__with_a_token_that_is_revoked_meanwhile__ends(
    client: httpx.Client, connections: RawConnections
) -> None:
    made = client.post("/tokens", json={"user": "alice", "role": "submitter"}).json()
    connection = connections.open()
    begin(connection, made["token"])
    send(connection, OPEN)
    assert answer_of(connection)["status"] == 201
    client.delete(f"/tokens/{made['token_id']}").raise_for_status()
    # The stream ends while it sends nothing.
    answer = answer_of(connection)
    assert (answer["line"], answer["status"]) == (2, 401)


def test_stream__while_the_service_stops__ends_with_an_answer(servers: ServerPool) -> None:
    with (
        servers.databases("embedded").fresh() as database,
        serving(database) as service,
        raw_connections(service) as connections,
    ):
        connection = connections.open()
        begin(connection, service.token)
        send(connection, OPEN)
        assert answer_of(connection)["status"] == 201
        service.processes["serve"].send_signal(signal.SIGTERM)
        answer = answer_of(connection)
        assert (answer["line"], answer["status"]) == (2, 503)


def test_stream__that_sends_nothing__is_closed_without_another_answer(servers: ServerPool) -> None:
    patience = {"LABLEDGER_REQUEST_SECONDS": "2"}
    with (
        servers.databases("embedded").fresh() as database,
        serving(database, **patience) as impatient,
        raw_connections(impatient) as connections,
    ):
        connection = connections.open()
        begin(connection, impatient.token)
        # Slow, but answered again and again.
        for _ in range(4):
            send(connection, OPEN)
            assert answer_of(connection)["status"] == 201
            time.sleep(0.6)
        assert connection.read_to_end().strip() == b""


def batches_of(*chunks: bytes) -> list[list[int]]:
    """Return the numbers of the lines of each batch."""

    held: list[int] = []

    async def all_batches() -> list[list[int]]:
        async def received() -> AsyncIterator[bytes]:
            for chunk in chunks:
                yield chunk

        return [[line.number for line in lines] async for lines in line_batches(received(), held.append)]

    found = asyncio.run(all_batches())
    # After each chunk, only the beginning of a line stays.
    assert held[-1] == len(b"".join(chunks).rpartition(b"\n")[2])
    return found


def test_batches__of_lines_in_any_pieces__number_them_all() -> None:
    assert batches_of(b"a", b"b\nc\n", b"\n", b"d", b"", b"\ne\n") == [[1, 2], [4, 5]]
    assert batches_of(b"a\n" * (MAX_LINES + 1)) == [[*range(1, MAX_LINES + 1)], [MAX_LINES + 1]]
    with pytest.raises(LineRefused):
        batches_of(b"a\nb")
