"""What is seen of one test's part of a running Labledger: its log, told piece by piece, and what is shown."""

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
    """`people` are clients by who they are: admin, alice, and the lab controllers east and west."""

    def __init__(self, service: Running, people: dict[str, httpx.Client], place: str) -> None:
        """`place` is what the names of its machines end with."""
        self.service = service
        self.people = people
        self.admin = people["admin"]
        self._place = place
        self._after = self._end = 0
        self._read_count = 0

    def begin(self) -> None:
        """What happens from now on is told."""
        self._after = self.end()

    def fqdn(self, name: str) -> str:
        return name + self._place

    def end(self) -> int:
        """The last position of the log."""
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
        """The first event of this topic since the test began."""
        return next(event for event in self.events(self._after) if event["topic"] == topic)

    def wait_at_rest(self) -> None:
        """Until every pending system has been asked for."""
        for row in pages(self.admin, "/systems", "systems", self.end()):
            self.wait_idle(row["fqdn"].removesuffix(self._place))

    def shown(self, recipe_id: int) -> Mapping[str, Any]:
        """What everybody is shown of a recipe, now that all is told."""
        return get(self.admin, f"/recipes/{recipe_id}", self.end())

    def wait_for_state(self, recipe_id: int, state: str) -> None:
        wait_until(lambda: self.shown(recipe_id)["state"] == state, f"recipe {recipe_id} to be {state}")

    def wait_idle(self, name: str) -> None:
        """Until it is."""
        path = f"/systems/{self.fqdn(name)}"
        wait_until(lambda: get(self.admin, path, self.end())["usage"] == "idle", f"{name} to be idle")

    def assert_log(self, expected: str) -> None:
        """This and nothing else has come into the log since it was asked last, or comes soon."""
        wanted = lines(expand_phrases(expected))
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self.unread_lines() != wanted and time.monotonic() < deadline:
            time.sleep(0.02)
        assert self.unread_lines() == wanted
        self._read_count += len(wanted)

    def unread_lines(self) -> list[str]:
        return transcript(self.events(self._after), self._place, ".example.com")[self._read_count :]

    def events(self, after: int) -> list[Mapping[str, Any]]:
        found: list[Mapping[str, Any]] = []
        while page := self.admin.get("/events", params={"after": after, "limit": 1000}).json()["events"]:
            found += page
            after = page[-1]["position"]
        return found

    def commands(self, lab: str = "east") -> list[str]:
        """What the lab controller was told since the test began, in order; ids as `tells` has them."""
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
