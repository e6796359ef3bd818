"""Observations of one test on a shared service: its part of the log, and the answers of the API."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import httpx

from tests.acceptance.phrases import expand_phrases
from tests.acceptance.read_models import get, pages
from tests.acceptance.transcript import Numbers, lines, transcript
from tests.harness.running import Running
from tests.harness.waiting import wait_until

PATIENCE_SECONDS = 30.0
LABS = {side: f"lab.{side}.example.com" for side in ("east", "west")}


class Observer:
    """The log and the answers of one test. `people` are clients: admin, alice, and the labs east and west."""

    def __init__(self, service: Running, people: dict[str, httpx.Client], place: str) -> None:
        """Observe the machines whose names end with `place`."""
        self.service = service
        self.people = people
        self.admin = people["admin"]
        self._place = place
        self._after = self._end = 0
        self._read_count = 0

    def begin(self) -> None:
        """Begin the transcript at the end of the log."""
        self._after = self.end()

    def fqdn(self, name: str) -> str:
        return name + self._place

    def end(self) -> int:
        """Return the last position of the log."""
        if news := self.events(self._end):
            self._end = news[-1]["position"]
        return self._end

    def tasks(self, recipe_id: int) -> list[int]:
        return [task["task_id"] for task in self.shown(recipe_id)["tasks"]]

    def set_of(self, recipe_id: int) -> int:
        return int(self.shown(recipe_id)["recipe_set_id"])

    def job_of(self, recipe_id: int) -> Mapping[str, Any]:
        return get(self.admin, f"/jobs/{self.shown(recipe_id)['job_id']}", self.end())

    def first(self, topic: str) -> Mapping[str, Any]:
        """Return the first event of this topic since the test began."""
        return next(event for event in self.events(self._after) if event["topic"] == topic)

    def wait_at_rest(self) -> None:
        """Wait until all systems are idle."""
        for row in pages(self.admin, "/systems", "systems", self.end()):
            self.wait_idle(row["fqdn"].removesuffix(self._place))

    def shown(self, recipe_id: int) -> Mapping[str, Any]:
        """Return the recipe as the API shows it at the end of the log."""
        return get(self.admin, f"/recipes/{recipe_id}", self.end())

    def wait_for_state(self, recipe_id: int, state: str) -> None:
        wait_until(lambda: self.shown(recipe_id)["state"] == state, f"recipe {recipe_id} to be {state}")

    def wait_idle(self, name: str) -> None:
        """Wait until the system is idle."""
        path = f"/systems/{self.fqdn(name)}"
        wait_until(lambda: get(self.admin, path, self.end())["usage"] == "idle", f"{name} to be idle")

    def assert_log(self, expected: str) -> None:
        """Wait until the log since the last call is exactly this; fail after a timeout."""
        expected_lines = lines(expand_phrases(expected))
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self.unread_lines() != expected_lines and time.monotonic() < deadline:
            time.sleep(0.02)
        assert self.unread_lines() == expected_lines, "\n".join(["the log is", *self.unread_lines()])
        self._read_count += len(expected_lines)

    def unread_lines(self) -> list[str]:
        return transcript(self.events(self._after), self._place, ".example.com")[self._read_count :]

    def events(self, after: int) -> list[Mapping[str, Any]]:
        found: list[Mapping[str, Any]] = []
        while page := self.admin.get("/events", params={"after": after, "limit": 1000}).json()["events"]:
            found += page
            after = page[-1]["position"]
        return found

    def commands(self, lab: str = "east") -> list[str]:
        """Return the lab's commands since the test began, in order, with the ids of the transcript."""
        numbers = Numbers()
        for event in self.events(self._after):
            numbers.see(event)
        path = f"/lab-controllers/{LABS[lab]}/commands"
        self.admin.get("/queue", params={"min_position": self.end()})
        given = self.admin.get(path, params={"after": self._after}).json()["commands"]
        return [
            f"{command['kind']} {command['system'].removesuffix(self._place)}"
            + (f" recipe/{numbers['recipe', command['recipe_id']]}" if command["recipe_id"] else "")
            for command in given
        ]
