"""The commands of each page, against a demo of its own; some pages at a time, since most of it is waiting."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from tests.docs.commands import PAGES
from tests.docs.demo import TOP

AT_A_TIME = 3
Outcome = subprocess.CompletedProcess[str]


class Readers:
    """A process for each page; all end with the tests."""

    def __init__(self, pages: list[str]) -> None:
        self._processes: list[subprocess.Popen[str]] = []
        self._pool = ThreadPoolExecutor(AT_A_TIME)
        self.outcomes: dict[str, Future[Outcome]] = {
            page: self._pool.submit(self._read, page) for page in pages
        }

    def _read(self, page: str) -> Outcome:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.docs.commands", page],
            cwd=TOP,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._processes.append(process)
        printed, _ = process.communicate()
        return Outcome(page, process.returncode, printed)

    def stop(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in self._processes:
            process.terminate()
        self._pool.shutdown()


@pytest.fixture(scope="module")
def readers(request: pytest.FixtureRequest) -> Iterator[Readers]:
    """All pages that are asked for, begun at once."""
    asked = [
        item.callspec.params["page"]
        for item in request.session.items
        if hasattr(item, "callspec") and item.fspath == request.fspath
    ]
    started = Readers(asked)
    yield started
    started.stop()


@pytest.mark.parametrize("page", PAGES)
def test_page__its_commands_in_order__do_and_print_what_it_says(page: str, readers: Readers) -> None:
    outcome = readers.outcomes[page].result()
    assert outcome.returncode == 0, outcome.stdout
