"""Common features of the API: ETags, compression, CORS, methods, and rate limits."""

from __future__ import annotations

import gzip
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from api.password_attempts import MAX_FAILED_BY_ADDRESS
from tests.harness.http_options import LOCAL_HTTP
from tests.harness.pool import ServerPool
from tests.harness.running import Running, running

EAST = "lab.east.example.com"
ORIGIN = "https://lab.example.com"


@pytest.fixture(scope="module")
def strict(servers: ServerPool) -> Iterator[Running]:
    """Run a service with low limits behind a proxy, which allows one origin."""
    settings = {
        "LABLEDGER_REQUESTS_PER_SECOND": "5",
        "LABLEDGER_MAX_LOG_BYTES_PER_DAY": "1",
        "LABLEDGER_CORS_ORIGINS": ORIGIN,
        "LABLEDGER_PROXIES": "127.0.0.1",
        "LABLEDGER_ADDRESS_DAYS": "30",
        "LABLEDGER_RECORD_ADMIN_READS": "yes",
    }
    with servers.databases("embedded").fresh() as database, running(database, **settings) as started:
        yield started


def test_change__with_the_etag_that_was_read__done_once(client: httpx.Client, machine: str) -> None:
    path = f"/systems/{machine}"
    etag = client.get(path).headers["etag"]
    first = client.patch(path, json={"vendor": "one"}, headers={"If-Match": etag})
    assert (first.status_code, first.json()["changed"]) == (200, True)
    stale = client.patch(path, json={"vendor": "two"}, headers={"If-Match": etag})
    assert (stale.status_code, stale.reason_phrase) == (412, "Precondition Failed")
    now = client.get(path, params={"min_position": first.json()["position"]})
    assert now.json()["vendor"] == "one"
    again = client.patch(path, json={"vendor": "two"}, headers={"If-Match": now.headers["etag"]})
    assert again.json()["changed"] is True


def test_change__stale_but_true_already__412(client: httpx.Client, machine: str) -> None:
    path = f"/systems/{machine}"
    etag = client.get(path).headers["etag"]
    assert client.patch(path, json={"vendor": "one"}).status_code == 200
    assert client.patch(path, json={"vendor": "one"}, headers={"If-Match": etag}).status_code == 412


@pytest.mark.parametrize("tag", ['"999999"', 'W/"1"', "nonsense", '"one"'])
def test_change__a_tag_that_no_answer_gave__412(client: httpx.Client, machine: str, tag: str) -> None:
    answer = client.patch(f"/systems/{machine}", json={"vendor": "one"}, headers={"If-Match": tag})
    assert answer.status_code == 412


def test_change__any_version_will_do__done(client: httpx.Client, machine: str) -> None:
    answer = client.patch(f"/systems/{machine}", json={"vendor": "one"}, headers={"If-Match": "*"})
    assert answer.json()["changed"] is True


def test_document__two_with_one_etag_at_once__one_wins(client: httpx.Client) -> None:
    at = client.put("/groups/raced", json={"members": []}).json()["position"]
    etag = client.get("/groups/raced", params={"min_position": at}).headers["etag"]

    def put(member: str) -> int:
        body = {"members": [member]}
        return client.put("/groups/raced", json=body, headers={"If-Match": etag}).status_code

    with ThreadPoolExecutor(4) as pool:
        statuses = sorted(pool.map(put, ("alice", "bob", "carol", "lab-ops")))
    assert statuses == [200, 412, 412, 412]


def test_answer__long_and_gzip_accepted__is_compressed(service: Running) -> None:
    headers = {"Authorization": f"Bearer {service.token}"}
    plain = httpx.get(
        f"{service.url}/systems", headers={**headers, "Accept-Encoding": "identity"}, **LOCAL_HTTP
    )
    assert "content-encoding" not in plain.headers and "accept-encoding" in plain.headers["vary"].lower()
    with httpx.stream(
        "GET", f"{service.url}/systems", headers={**headers, "Accept-Encoding": "gzip"}, **LOCAL_HTTP
    ) as compressed:
        assert compressed.headers["content-encoding"] == "gzip"
        raw = b"".join(compressed.iter_raw())
    assert len(raw) < len(plain.content) // 4
    assert b'"systems"' in gzip.decompress(raw)
    refused = httpx.get(
        f"{service.url}/systems", headers={**headers, "Accept-Encoding": "gzip;q=0"}, **LOCAL_HTTP
    )
    assert "content-encoding" not in refused.headers


def test_body__compressed__415(client: httpx.Client) -> None:
    headers = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
    answer = client.put("/users/alice", content=gzip.compress(b"{}"), headers=headers)
    assert answer.status_code == 415


def test_options__of_a_path__names_its_methods(service: Running) -> None:
    answer = httpx.options(f"{service.url}/jobs", **LOCAL_HTTP)
    assert answer.status_code == 200
    assert {"GET", "POST"} <= set(answer.headers["allow"].split(", "))


def test_other_origins__by_default__get_no_headers(service: Running) -> None:
    answer = httpx.get(f"{service.url}/healthz", headers={"Origin": ORIGIN}, **LOCAL_HTTP)
    assert not any(name.startswith("access-control") for name in answer.headers)


def test_other_origins__one_that_is_allowed__may_ask(strict: Running) -> None:
    asked = {"Origin": ORIGIN, "Access-Control-Request-Method": "POST"}
    preflight = httpx.options(f"{strict.url}/jobs", headers=asked, **LOCAL_HTTP)
    assert preflight.headers["access-control-allow-origin"] == ORIGIN
    assert "POST" in preflight.headers["access-control-allow-methods"]
    answer = httpx.get(f"{strict.url}/healthz", headers={"Origin": ORIGIN}, **LOCAL_HTTP)
    assert "labledger-position" in answer.headers["access-control-expose-headers"].lower()
    assert "origin" in answer.headers["vary"].lower()
    other = httpx.get(f"{strict.url}/healthz", headers={"Origin": "https://evil.test"}, **LOCAL_HTTP)
    assert "access-control-allow-origin" not in other.headers


def test_user__too_many_requests_with_all_tokens_together__429_with_retry_after(strict: Running) -> None:
    with strict.client() as client:
        made = [client.post("/tokens", json={"user": "admin", "role": "admin"}) for _ in range(3)]
        bearers = [f"Bearer {token}" for token in (strict.token, *(one.json()["token"] for one in made))]
        answers = [
            client.get("/whoami", headers={"Authorization": bearer}) for _ in range(3) for bearer in bearers
        ]
    refused = [answer for answer in answers if answer.status_code == 429]
    assert refused and answers[0].status_code == 200
    assert refused[0].headers["retry-after"] == "1"
    assert refused[0].headers["content-type"] == "application/problem+json"


def test_submitter__has_written_the_bytes_of_the_day__429_and_when_it_frees(strict: Running) -> None:
    strict.do("user", "put", "eve")
    token = strict.json("token", "create", "eve")["token"]
    password = {"password": "correct horse", "current_password": "correct horse"}
    with strict.client(token) as eve:
        assert eve.put("/users/eve/password", json=password).status_code == 200
        refused = eve.put("/users/eve/password", json=password)
        assert (refused.status_code, refused.json()["detail"][:15]) == (429, "eve has written")
        assert int(refused.headers["retry-after"]) > 0
        (share,) = eve.get("/log-usage").json()["shares"]
        assert share["actor"] == "eve" and f"{share['size_bytes']:,} bytes" in refused.json()["detail"]
        assert eve.get("/log-usage", params={"actor": "admin"}).status_code == 403


def test_login__many_names_from_one_client_of_a_proxy__refused_there_and_not_elsewhere(
    strict: Running,
) -> None:
    def guess(number: int, address: str = "198.51.100.7") -> int:
        body = {"user": f"user-{number}", "password": "correct horse"}
        headers = {"X-Forwarded-For": f"192.0.2.{number}, {address}"}
        return httpx.post(
            f"{strict.url}/login", json=body, headers=headers, timeout=60, **LOCAL_HTTP
        ).status_code

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(guess, range(MAX_FAILED_BY_ADDRESS + 4)))
    assert Counter(answers) == {401: MAX_FAILED_BY_ADDRESS, 429: 4}
    assert guess(0, "198.51.100.8") == 401


def test_addresses_and_reads_of_admins__switched_on__for_admins_and_auditors(strict: Running) -> None:
    forwarded = {"X-Forwarded-For": "192.0.2.1, 2001:db8::7"}
    with strict.client() as admin:

        def token(role: str) -> str:
            body = {"user": "ines", "role": role}
            return str(_not_too_often(lambda: admin.post("/tokens", json=body)).json()["token"])

        body = {"roles": ["submitter", "auditor"]}
        put = _not_too_often(lambda: admin.put("/users/ines", json=body, headers=forwarded)).json()
        path = f"/events/{put['position']}"
        event = _not_too_often(lambda: admin.get(path)).json()["event"]
        assert (event["subject"], event["token_id"], event["address"]) == (
            "user/ines",
            "admin",
            "2001:db8::7",
        )
        # What only asks is a read, whatever its method, also if it is refused.
        for question in ("/weights", "/matches", "/inventory?dry_run=true"):
            _not_too_often(lambda question=question: admin.post(question, json={}))
        with strict.client(token("auditor")) as auditor, strict.client(token("submitter")) as submitter:
            page = {"after": put["position"] - 1, "limit": 1}
            (seen,) = _not_too_often(lambda: auditor.get("/events", params=page)).json()["events"]
            assert seen == event
            (seen,) = _not_too_often(lambda: submitter.get("/events", params=page)).json()["events"]
            assert seen == {name: value for name, value in event.items() if name != "address"}
            recorded = _not_too_often(lambda: auditor.get("/reads", params={"user": "admin"})).json()["reads"]
    found = [(read["method"], read["path"], read["role"], read["token_id"]) for read in recorded]
    assert ("GET", path, "admin", "admin") in found
    posts = [asked for method, asked, *_ in found if method != "GET"]
    assert sorted(posts) == ["/inventory", "/matches", "/weights"], "changes are events"


def _not_too_often(ask: Callable[[], httpx.Response]) -> httpx.Response:
    """Return the answer to a request, repeated while the caller has asked too often."""
    while (answer := ask()).status_code == 429:
        time.sleep(float(answer.headers["retry-after"]))
    return answer


def test_request_id__given__comes_back(client: httpx.Client) -> None:
    answer = client.get("/whoami", headers={"X-Request-Id": "mine-1"})
    assert answer.headers["x-request-id"] == "mine-1"
    made_up = client.get("/whoami", headers={"X-Request-Id": "not an id"}).headers["x-request-id"]
    assert len(made_up) == 32


def test_auditor__reads__each_is_recorded_before_it_is_answered(
    service: Running, client: httpx.Client, auditor: dict[str, str]
) -> None:
    before = client.get("/reads", params={"user": "carol", "limit": 1000}).json()["reads"]
    with service.client(auditor["token"]) as reader:
        answer = reader.get("/queue", params={"limit": 7})
        assert reader.put("/users/alice", json={}).status_code == 403
    after = client.get("/reads", params={"user": "carol", "limit": 1000}).json()["reads"]
    (read,) = after[len(before) :]
    assert (read["path"], read["query"], read["token_id"]) == ("/queue", "limit=7", auditor["token_id"])
    assert read["request_id"] == answer.headers["x-request-id"]


def test_auditor__watches__is_recorded_with_where_it_begins(
    service: Running, client: httpx.Client, auditor: dict[str, str]
) -> None:
    before = client.get("/reads", params={"user": "carol", "limit": 1000}).json()["reads"]
    with service.client(auditor["token"]) as reader:
        reader.get("/events", params={"limit": 1}, headers={"Last-Event-ID": "5"})
        for resumed in ({"Last-Event-ID": "3"}, {}):
            headers = {"Accept": "text/event-stream", **resumed}
            with reader.stream("GET", "/events", params={"after": 2}, headers=headers) as stream:
                assert stream.status_code == 200
    after = client.get("/reads", params={"user": "carol", "limit": 1000}).json()["reads"]
    recorded = [(read["query"], read["is_stream"], read["last_event_id"]) for read in after[len(before) :]]
    assert recorded == [("limit=1", False, None), ("after=2", True, "3"), ("after=2", True, None)]


def test_job__changed_afterwards__by_its_etag(client: httpx.Client, smoke: bytes) -> None:
    job = client.post("/jobs", content=smoke, headers={"Content-Type": "application/xml"}).json()
    path = f"/jobs/{job['job_id']}"
    etag = client.get(path, params={"min_position": job["position"]}).headers["etag"]
    changed = client.patch(path, json={"whiteboard": "mine"}, headers={"If-Match": etag})
    assert changed.json()["changed"] is True
    now = client.get(path, params={"min_position": changed.json()["position"]})
    assert (now.json()["whiteboard"], now.json()["document"]["whiteboard"]) == ("mine", "mine")
    assert client.patch(path, json={"product": "p"}, headers={"If-Match": etag}).status_code == 412
    assert client.patch(path, json={"product": "p"}).status_code == 422
    assert client.patch(path, json={"colour": "red"}).status_code == 422
    client.post(f"{path}/cancel", json={"reason": "not needed"})


def test_stream__its_token_is_revoked__ends(service: Running, client: httpx.Client) -> None:
    made = client.post("/tokens", json={"user": "carol", "role": "submitter"}).json()
    headers = {"Authorization": f"Bearer {made['token']}", "Accept": "text/event-stream"}
    with httpx.stream("GET", f"{service.url}/events", headers=headers, timeout=20, **LOCAL_HTTP) as stream:
        lines = stream.iter_lines()
        assert next(lines)
        assert client.delete(f"/tokens/{made['token_id']}").json()["revoked"] is True
        # The stream would never end by itself.
        assert sum(1 for _ in lines) > 0
    assert httpx.get(f"{service.url}/queue", headers=headers, **LOCAL_HTTP).status_code == 401


def test_web_socket__upgrade_requested__is_refused(service: Running) -> None:
    asked = (
        "GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", service.port), timeout=10) as connection:
        connection.sendall(asked.encode())
        answer = connection.recv(1_000)
    assert answer.split(b" ")[1] == b"403"


def test_commands__more_wait_for_a_lab_than_one_has_use_for__429(service: Running) -> None:
    path = f"/lab-controllers/{EAST}/commands"
    last = {"after": str(2**40), "wait_seconds": "4"}

    def poll(_: int) -> int:
        with service.client() as client:
            return client.get(path, params=last).status_code

    with ThreadPoolExecutor(24) as pool:
        statuses = Counter(pool.map(poll, range(24)))
    assert statuses == {200: 16, 429: 8}
