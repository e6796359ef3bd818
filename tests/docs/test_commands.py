"""The commands of the docs, run on demos; several pages at a time, since most of the time is waiting."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain

import pytest

from tests.docs.commands import OTHERS, PAGES, STORIES, TOGETHER, stories
from tests.docs.output_match import time_faults
from tests.docs.page import TOP, commands
from tests.docs.shell import COLUMNS

AT_A_TIME = 4
Pages = tuple[str, ...]
Outcome = subprocess.CompletedProcess[str]


class Readers:
    """Processes that each run some pages together; all end with the tests."""

    def __init__(self, asked: list[Pages]) -> None:
        self._processes: list[subprocess.Popen[str]] = []
        self._pool = ThreadPoolExecutor(AT_A_TIME)
        # The longest pages start first, so that no test waits for a long page that started last.
        self.outcomes: dict[Pages, Future[Outcome]] = {
            pages: self._pool.submit(self._read, pages) for pages in sorted(asked, key=_length, reverse=True)
        }

    def _read(self, pages: Pages) -> Outcome:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.docs.commands", TOGETHER, *pages],
            cwd=TOP,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._processes.append(process)
        printed, _ = process.communicate()
        return Outcome(pages, process.returncode, printed)

    def stop(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in self._processes:
            process.terminate()
        self._pool.shutdown()


def _length(pages: Pages) -> int:
    return sum((TOP / page).stat().st_size for page in pages)


@pytest.fixture(scope="module")
def readers(request: pytest.FixtureRequest) -> Iterator[Readers]:
    """The pages of all selected tests, started at once."""
    items = [item for item in request.session.items if isinstance(item, pytest.Function)]
    started = Readers([item.callspec.params["pages"] for item in items if "readers" in item.fixturenames])
    yield started
    started.stop()


@pytest.mark.parametrize("page", PAGES)
def test_page__commands_and_output__fit_a_terminal(page: str) -> None:
    found = commands((TOP / page).read_text("utf-8"))
    shown = [line for command in found for line in (*command.text.splitlines(), *command.recorded)]
    assert [line for line in shown if len(line) > COLUMNS] == []


@pytest.mark.parametrize("pages", STORIES, ids=" ".join)
def test_pages__recorded_times__are_in_the_order_of_the_log(pages: Pages) -> None:
    found = [commands((TOP / page).read_text("utf-8")) for page in pages]
    assert time_faults([line for command in chain(*found) for line in command.recorded]) == []


def test_stories__page_of_a_story__is_run_with_the_whole_story() -> None:
    assert stories(["docs/http.md", "docs/tutorial.md", "README.md"]) == [("docs/http.md",), STORIES[0]]
    assert STORIES[0] == ("README.md", "docs/tutorial.md")


@pytest.mark.soak
@pytest.mark.parametrize("pages", [*STORIES, OTHERS], ids=" ".join)
def test_pages__commands_run_in_order__print_the_documented_output(pages: Pages, readers: Readers) -> None:
    if shutil.which("curl") is None and any("$ curl " in (TOP / page).read_text("utf-8") for page in pages):
        pytest.skip("these pages use curl, which is not installed")
    outcome = readers.outcomes[pages].result()
    assert outcome.returncode == 0, outcome.stdout
