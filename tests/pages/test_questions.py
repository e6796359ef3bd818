"""A bound on the questions of a page: however much it shows, it asks at most ten."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any

import pytest

from api.rest.context import Principal
from api.rest.inside import Application, render_inside
from api.root import http_application
from domain.directory.roles import ADMIN
from projections.read_sessions import ReadSessions
from runtime.settings import Settings
from store.event_log import EventLog
from tests.harness.running import Running
from tests.pages.addresses import addresses
from tests.pages.directory_lab import DirectoryLab
from tests.rest.actions import cancel_set, in_state, recipe_for, submit
from workers.explaining.explainers import Explainers

MAX_QUESTIONS = 10
# The feed asks for new events by itself, at intervals.
RENDERS = ContextVar("renders", default=False)


@asynccontextmanager
async def started(application: Application) -> AsyncIterator[None]:
    """Open and close an application as its server does."""
    messages = asyncio.Queue[dict[str, Any]]()
    states = asyncio.Queue[dict[str, Any]]()
    task = asyncio.create_task(
        application({"type": "lifespan", "asgi": {"version": "3.0"}}, messages.get, states.put)
    )  # type: ignore[arg-type]
    for name in ("startup", "shutdown"):
        await messages.put({"type": f"lifespan.{name}"})
        assert (state := await states.get())["type"] == f"lifespan.{name}.complete", state
        if name == "startup":
            yield
    await task


def counted(monkeypatch: pytest.MonkeyPatch, asked: list[str]) -> None:
    """Note every question to the database and to the explaining processes."""

    def note(owner: type, name: str) -> None:
        original: Callable[..., Any] = getattr(owner, name)

        def noted(*args: Any, **more: Any) -> Any:
            if RENDERS.get():
                asked.append(f"{owner.__name__}.{name}{args[1:]}"[:60])
            return original(*args, **more)

        monkeypatch.setattr(owner, name, noted)

    note(ReadSessions, "together")
    note(Explainers, "ask")
    for name in ("load", "select", "select_backwards", "caused_by", "span", "at", "end"):
        note(EventLog, name)


async def questions(service: Running, pages: list[str], asked: list[str]) -> dict[str, list[str]]:
    """Return the questions of each page, asked twice: the first time may read what is cached later."""
    settings = Settings.read({}, database_url=service.database.service_url)
    application = http_application(settings)
    principal = Principal("admin", ADMIN, None, "none")
    found = {}
    async with started(application):
        for page in pages * 2:
            asked.clear()
            token = RENDERS.set(True)
            rendered = await render_inside(application, principal, page)
            RENDERS.reset(token)
            assert rendered is not None, page
            found[page] = list(asked)
    return found


@pytest.fixture
def partition(service: Running) -> Iterator[str]:
    """Yield a second partition: with one, reads of the past ask for the partitions of labs."""
    name = "of-questions"
    with service.client() as admin:
        admin.put(f"/partitions/{name}").raise_for_status()
        yield name
        admin.post(f"/partitions/{name}/stop").raise_for_status()
        admin.delete(f"/partitions/{name}").raise_for_status()


@pytest.mark.soak
@pytest.mark.usefixtures("partition")
def test_pages__with_a_waiting_recipe__ask_ten_questions_or_fewer(
    service: Running, lab: DirectoryLab, machine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    with service.client() as admin:
        # The job filters of the lab concern the second job, which waits for the system of the first one.
        jobs = [submit(admin, recipe_for(machine)) for _ in range(2)]
        for job, state in zip(jobs, ("waiting", "queued"), strict=True):
            in_state(admin, job["recipe_ids"][0], state)
        of_system = [f"/ui/systems/{machine}", f"/ui/systems/{machine}?as_of={service.end()}"]
        for job in reversed(jobs):
            cancel_set(admin, job)
    pages = [*addresses(service), *lab.addresses, *of_system]
    counted(monkeypatch, asked)
    found = asyncio.run(questions(service, pages, asked))
    assert set(found) == set(pages)
    assert {page: asks for page, asks in found.items() if len(asks) > MAX_QUESTIONS} == {}
    assert any(found.values()), "no question was counted"
