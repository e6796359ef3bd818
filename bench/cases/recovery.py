"""Processes are killed while recipes end and systems are given away: how soon is everything as before?"""

from __future__ import annotations

import time
from collections.abc import Callable

import httpx

from bench.cases.full_lab import enable
from bench.cluster_fixture import DIRECTLY, Stand
from bench.completions import endings
from bench.deployment import API, API_WORKER, POSTGRESQL, SCHEDULER, Whole
from bench.measurements import SQL
from bench.outcome import Figures, Sizes
from bench.progress import Told
from bench.settling import settle
from postgres.errors import DatabaseAway

KILLS = (SCHEDULER, API_WORKER, API, POSTGRESQL)
# `up` holds it against a process when it dies again so soon.
PAUSE_SECONDS = 11.0
LOOK_SECONDS = 0.005
PATIENCE_SECONDS = 60.0


def measure(stand: Stand, sizes: Sizes, told: Told) -> Figures:
    """From the kill to the next write that is answered, and to the commit of the next allocation."""
    assert isinstance(stand, Whole), "somebody has to start again what was killed"
    enable(stand)
    found: dict[str, float] = {}
    with endings(stand, sizes.rate):
        for number, part in enumerate(KILLS):
            told("kills", number, len(KILLS))
            time.sleep(min(PAUSE_SECONDS, sizes.seconds))
            answered, allocated = _killed(stand, part)
            found |= {
                f"{part}_next_answer_seconds": round(answered, 3),
                f"{part}_next_allocation_seconds": round(allocated, 3),
            }
    settle(stand)
    ((held_twice,),) = stand.log.rows(SQL["held_twice"], ())
    return {**found, "systems_with_two_recipes": held_twice}


def _killed(stand: Whole, part: str) -> tuple[float, float]:
    """No allocation counts that was under way: where the scheduler has died, or has lost its session, only
    one of another epoch, else only one after the answer.
    """
    ((epoch,),) = stand.log.rows(SQL["epoch"], ())
    before = stand.log.end()
    began = time.time()
    stand.kill(part)
    _wait(lambda: _answers(stand), f"nobody answers after {part} was killed")
    answered = time.time()
    anew = part in (SCHEDULER, POSTGRESQL)
    asked = {"after": before, "since": began if anew else answered, "epoch": epoch + anew}
    _wait(lambda: bool(_allocations(stand, asked)), f"nothing is given away after {part} was killed")
    return answered - began, _allocations(stand, asked)[0] - began


def _wait(is_so: Callable[[], bool], otherwise: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError(otherwise)
        time.sleep(LOOK_SECONDS)


def _answers(stand: Stand) -> bool:
    """A write that is durable once it is answered, on a connection of its own."""
    try:
        path, headers = f"{stand.url}/users/new-{time.time_ns()}", {"Authorization": f"Bearer {stand.token}"}
        return httpx.put(path, json={}, headers=headers, timeout=5, **DIRECTLY).is_success
    except httpx.TransportError:
        return False


def _allocations(stand: Stand, asked: dict[str, float]) -> list[float]:
    """When the first was committed after the kill; none while there is none."""
    try:
        return [at for (at,) in stand.log.rows(SQL["first_allocation"], asked) if at is not None]
    except DatabaseAway:
        return []
