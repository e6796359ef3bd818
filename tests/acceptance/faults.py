"""A lab under load with every kind of fault, whose processes are killed meanwhile."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from replay.audit.tables import FINISHED, RECIPE_MOVES
from tests.acceptance.chores import Chores
from tests.acceptance.metrics import impossible_findings, scraped
from tests.harness.running import Running

# A recipe without faults completes in about 3 s.
SPEED = "600"
# Longer than a working machine is ever silent.
WATCHDOG_SECONDS = "5"
# In percent.
FAULTS = {"stall": 4, "fail": 6, "break": 5, "vanish": 4, "repeat": 15, "reorder": 15, "trouble": 20}
ENDED = tuple(f"recipe.{state}" for state in FINISHED)
STATES = tuple(f"recipe.{state}" for state in RECIPE_MOVES)
CHECK_SECONDS = 0.25


@dataclass(frozen=True)
class Plan:
    """The processes `killed` in turn, and the maximum number of unfinished recipes, `queue`."""

    seed: int
    seconds: float
    longest_seconds: float
    queue: int
    killed: tuple[str, ...]
    kill_every_seconds: float


class FaultyLab:
    """One run of a lab, under one plan."""

    def __init__(self, service: Running, plan: Plan, folder: Path, chores: Chores) -> None:
        self.service = service
        self._plan = plan
        self._folder = folder
        self._chores = chores
        self.submitted = self.kills = 0

    def load(self, lab: dict[str, Any]) -> None:
        file = self._folder / "lab.json"
        file.write_text(json.dumps(lab))
        self.service.do("lab", "load", str(file))

    def run(self, jobs: Iterator[dict[str, Any]]) -> None:
        """Submit jobs for the planned time, then wait until the last one is finished."""
        self._simulate()
        began = time.monotonic()
        kill = _every(self._plan.kill_every_seconds, itertools.cycle(map(self._kill, self._plan.killed)))
        while (left := self._unfinished()) or self._goes_on(began):
            assert self._elapsed(began) < self._plan.longest_seconds, self._describe_unfinished()
            if self._goes_on(began):
                self._submit(itertools.islice(jobs, max(0, self._plan.queue - int(left))))
                kill()
            self._chores.do()
            self.assert_no_impossible_findings()
            time.sleep(CHECK_SECONDS)
        self._chores.end()
        self.service.processes["lab"].terminate()
        self.service.processes["lab"].wait(30)

    def _describe_unfinished(self) -> str:
        """Return the last event of each unfinished recipe; write the whole log to a file."""
        log, file = self.service.events(), self._folder / "events.json"
        file.write_text(json.dumps(log))
        last = {event["subject"]: event for event in log if event["topic"] in STATES}
        left = [f"{name}: {event}" for name, event in last.items() if event["topic"] not in ENDED]
        return "\n".join([f"unfinished recipes (log: {file}):", *left])

    def _goes_on(self, began: float) -> bool:
        """Go on for the planned time, and until each process was killed and one fault has aborted a recipe.

        A busy machine takes longer for that.
        """
        is_killed = self.kills >= len(self._plan.killed)
        return self._elapsed(began) < self._plan.seconds or not is_killed or not self._has_aborted_recipe()

    def _has_aborted_recipe(self) -> bool:
        with self.service.client() as client:
            found = client.get("/events", params={"types": "recipe.aborted", "limit": 1})
        return bool(found.json()["events"])

    def _elapsed(self, began: float) -> float:
        return time.monotonic() - began

    def _submit(self, jobs: Iterable[dict[str, Any]]) -> None:
        with self.service.client() as client:
            for job in jobs:
                answer = client.post("/jobs", json=job)
                assert answer.status_code == 201, answer.text
                self.submitted += 1

    def _simulate(self) -> None:
        percentages = (word for name, percent in FAULTS.items() for word in (f"--{name}", str(percent)))
        how = ("--seed", str(self._plan.seed), "--speed", SPEED, "--watchdog", WATCHDOG_SECONDS)
        self.service.start("lab", "simulate", "--all", *how, *percentages, name="lab")

    def _kill(self, name: str) -> Callable[[], None]:
        def kill() -> None:
            self.service.kill(name)
            self._simulate() if name == "lab" else self.service.start(name)
            self.service.wait_ready()
            self.kills += 1

        return kill

    def _unfinished(self) -> float:
        """Return the number of recipes plus the projector's lag: an event may stand for one more recipe."""
        metrics = scraped(self.service)
        recipes = sum(value for (name, _), value in metrics.items() if name == "labledger_recipes")
        lag = metrics["labledger_projector_lag_events", frozenset({("projector", "all")})]
        return recipes + lag

    def assert_no_impossible_findings(self) -> None:
        """Check the findings of the consistency loop, often, so that a failure shows at once."""
        found = impossible_findings(self.service)
        assert not found, found


def _every(seconds: float, acts: Iterator[Callable[[], None]]) -> Callable[[], None]:
    """Return a function that calls the next act when `seconds` have passed since the last one."""
    due = time.monotonic() + seconds

    def call() -> None:
        nonlocal due
        if time.monotonic() >= due:
            next(acts)()
            due = time.monotonic() + seconds

    return call
