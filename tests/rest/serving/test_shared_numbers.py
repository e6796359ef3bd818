"""Numbers that processes report to each other, and the bounds of a service with two serving processes."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx
import pytest

from api.amounts import Amounts
from api.item_pace import ItemPace
from api.moving_window import MovingWindow
from api.shared_numbers import SharedNumbers, shared_by
from domain.errors import TooOften
from tests.harness.http_options import LOCAL_HTTP
from tests.harness.pool import ServerPool
from tests.harness.running import Running
from tests.harness.watching import serving

PATIENCE_SECONDS = 10.0


@contextmanager
def other_process(shared: SharedNumbers, act: Callable[[], None]) -> Iterator[int]:
    """Yield a process that has joined and acted, and goes on until the end of the context."""
    done, acted = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            shared.join()
            act()
            os.write(acted, b"1")
            signal.pause()
        finally:
            os._exit(0)
    os.close(acted)
    try:
        assert os.read(done, 1) == b"1", "the process has acted"
        yield pid
    finally:
        os.close(done)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def test_numbers__of_another_process__are_reported_until_they_are_too_old() -> None:
    now = [time.monotonic_ns()]
    shared = SharedNumbers(2, clock=lambda: now[0])
    shared.join()
    with other_process(shared, lambda: [shared.put("a", 3), shared.put("a", 5), shared.put("b", 0)]):
        assert [shared.of_others(key, 60) for key in "abc"] == [[5], [], []]
        now[0] += 50_000_000
        assert (shared.of_others("a", 0.06), shared.of_others("a", 0.01)) == ([5], [])
    shared.put("a", 7)
    assert shared.of_others("a", 60) == [5], "its own numbers are not those of others"


def test_numbers__of_a_process_that_has_left__do_not_count() -> None:
    shared = SharedNumbers(2)
    shared.join()
    with other_process(shared, lambda: shared.put("a", 5)) as pid:
        pass
    assert shared.of_others("a", 60) == [5], "nobody has said that it has ended"
    shared.leave(pid)
    assert shared.of_others("a", 60) == []
    with other_process(shared, lambda: shared.put("b", 1)):
        assert (shared.of_others("a", 60), shared.of_others("b", 60)) == ([], [1])


def test_join__more_processes_than_rows__goes_on_alone(caplog: pytest.LogCaptureFixture) -> None:
    shared = SharedNumbers(1)
    for _ in range(2):
        shared.join()
    shared.put("a", 1)
    shared.join()
    assert "they do not count this one" in caplog.text
    shared.put("a", 2)
    assert shared.of_others("a", 60) == [1]


def test_numbers__of_many_keys__only_the_oldest_are_lost() -> None:
    shared = SharedNumbers(2)
    shared.join()
    keys = [f"caller {number}" for number in range(20_000)]
    with other_process(shared, lambda: [shared.put(key, 1) for key in keys]):
        assert all(shared.of_others(key, 60) == [1] for key in keys[-100:])
        assert sum(bool(shared.of_others(key, 60)) for key in keys) > 7_000


def test_shared_by__one_process__reports_nothing() -> None:
    shared = shared_by(1)
    shared.join()
    shared.put("a", 1)
    assert shared.of_others("a", 60) == []


def test_bounds__of_two_processes__hold_for_both_together() -> None:
    shared = SharedNumbers(2)
    shared.join()

    def use() -> None:
        window = MovingWindow(3, 60.0, shared=shared, name="w/")
        assert [window.take("ada") for _ in range(2)] == [0.0, 0.0]
        Amounts("bytes/", shared).add("ada", 10)
        given_back = Amounts("given back/", shared)
        given_back.add("ada", 10)
        given_back.add("ada", -10)
        ItemPace(100, shared=shared).admit("ada", 1_000)

    with other_process(shared, use):
        window = MovingWindow(3, 60.0, shared=shared, name="w/")
        assert window.take("ada") == 0.0 and window.take("ada") > 0.0
        assert window.count("ada") == 3 and window.take("bob") == 0.0
        amounts = Amounts("bytes/", shared)
        amounts.add("bob", 1)
        assert (amounts.of("ada"), amounts.own("ada"), amounts.of("bob"), amounts.total()) == (10, 0, 1, 11)
        assert Amounts("given back/", shared).of("ada") == 0
        with pytest.raises(TooOften):
            ItemPace(100, shared=shared).admit("ada", 1)
        ItemPace(100, shared=shared).admit("bob", 1)


def in_both_processes(
    service: Running, requests: int, attempt: Callable[[httpx.Client], httpx.Response]
) -> Counter[int]:
    """Return the statuses of requests, each on a connection of its own, so that both processes get some."""

    def once(_: int) -> int:
        with httpx.Client(base_url=service.url, timeout=PATIENCE_SECONDS, **LOCAL_HTTP) as client:
            return attempt(client).status_code

    with ThreadPoolExecutor(8) as threads:
        return Counter(threads.map(once, range(requests)))


def test_rate_limit__two_serving_processes__holds_for_both_together(servers: ServerPool) -> None:
    settings = {"LABLEDGER_API_WORKERS": "2", "LABLEDGER_REQUESTS_PER_SECOND": "20"}
    with servers.databases("embedded").fresh() as database, serving(database, **settings) as service:
        headers = {"Authorization": f"Bearer {service.token}"}
        began = time.monotonic()
        statuses = in_both_processes(service, 200, lambda client: client.get("/tokens", headers=headers))
        seconds = time.monotonic() - began
        assert set(statuses) == {200, 429}
        # In both processes together at most 20 in the first second, and in each later one.
        assert statuses[200] <= 20 * (seconds + 1)


def test_logins__two_serving_processes__five_wrong_passwords_in_all(servers: ServerPool) -> None:
    with (
        servers.databases("embedded").fresh() as database,
        serving(database, LABLEDGER_API_WORKERS="2") as service,
    ):
        login = {"user": "nobody", "password": "wrong password 1"}
        statuses = in_both_processes(service, 24, lambda client: client.post("/login", json=login))
        # Two that take the last slot at the same moment are both refused.
        assert set(statuses) == {401, 429} and 4 <= statuses[401] <= 5


def test_logins__two_serving_processes__any_number_of_right_passwords(servers: ServerPool) -> None:
    with (
        servers.databases("embedded").fresh() as database,
        serving(database, LABLEDGER_API_WORKERS="2") as service,
    ):
        login = {"user": "ada", "password": "right password 1"}
        with service.client() as admin:
            admin.put("/users/ada", json={}).raise_for_status()
            admin.put("/users/ada/password", json={"password": login["password"]}).raise_for_status()
        statuses = in_both_processes(service, 24, lambda client: client.post("/login", json=login))
        assert statuses == {200: 24}
