"""The simulated lab at work: one loop per lab controller that takes commands and reports, over HTTP.

It keeps nothing on disk. After a crash it asks from the start of the log (`after=0`): of all the recipes a
system ever ran only the last one can still be under way, so folding the old commands leaves at most one per
system. For those it asks the server how far they are, and goes on from there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from threading import Event
from typing import Any
from urllib.parse import quote

from api.client import Client, Problem, Unreachable
from replay.simulated_lab import Lab, UnknownKind, obey, resume
from replay.simulated_machine import Behaviour, Step

POLL_SECONDS = 30
PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 15.0
# What one POST carries at most; the rest follows at once.
BATCH = 200

Say = Callable[[dict[str, Any]], None]


class LabAgent:
    """One simulated lab controller. `say` hears what it does, `stop` ends it."""

    def __init__(self, client: Client, fqdn: str, behaviour: Behaviour, *, say: Say, stop: Event) -> None:
        self._client = client
        self._fqdn = fqdn
        self._path = f"/lab-controllers/{quote(fqdn, safe='')}"
        self._say = say
        self._stop = stop
        self._lab = Lab(behaviour)
        self._last_command = 0
        self._caught_up = False

    def run(self, *, once: bool = False) -> None:
        """Until stopped; `once`: until there is nothing to do and nothing to say."""
        failed = 0
        while not self._stop.is_set():
            try:
                busy = self.turn(wait=not once)
                failed = 0
            except (Unreachable, Problem) as error:
                if _hopeless(error):
                    raise
                failed += 1
                self._note("waiting", reason=str(error))
                self._stop.wait(min(PAUSE_SECONDS * 2.0 ** min(failed - 1, 10), LONGEST_PAUSE_SECONDS))
            else:
                if once and not busy:
                    return

    def turn(self, *, wait: bool) -> bool:
        """Take commands, then say what is due. False when nothing was or will be to do."""
        if not self._caught_up:
            self._catch_up()
        commands = self._commands(self._poll_seconds() if wait else 0)
        for command in commands:
            self._obey(command)
        self._report()
        self._sleep_until_due()
        return bool(commands) or bool(self._lab.agenda)

    def _catch_up(self) -> None:
        while commands := self._commands(0):
            for command in commands:
                self._obey(command)
        for recipe_id in dict.fromkeys(step.recipe_id for step in self._lab.agenda):
            self._resume(recipe_id)
        self._caught_up = True

    def _commands(self, wait_seconds: int) -> list[dict[str, Any]]:
        answer = self._client.get(
            f"{self._path}/commands", after=self._last_command, wait_seconds=wait_seconds
        )
        commands: list[dict[str, Any]] = answer["commands"]
        return commands

    def _obey(self, command: dict[str, Any]) -> None:
        """Remembered as taken only once the server knows: a lost answer makes us ask for it again."""
        try:
            lab = obey(self._lab, self._with_guest_tasks(command), time.monotonic())
        except UnknownKind as error:
            self._tell(command, {"state": "failed", "reason": str(error)})
        else:
            # An old command was most likely begun before a crash: that it is done says enough.
            for state in ("running", "completed") if self._caught_up else ("completed",):
                self._tell(command, {"state": state})
            self._lab = lab
        self._last_command = int(command["id"])
        shown = ("system", "recipe_id", "power", "action")
        self._note(str(command["kind"]), **{name: command[name] for name in shown if name in command})

    def _with_guest_tasks(self, command: dict[str, Any]) -> dict[str, Any]:
        """Commands name the guests of a host; what these run stands in their recipes."""
        return {**command, "guests": [self._guest(guest) for guest in command.get("guests") or ()]}

    def _guest(self, guest: dict[str, Any]) -> dict[str, Any]:
        if "tasks" in guest:
            return guest
        recipe = self._client.get(f"/recipes/{guest['recipe_id']}")
        return {**guest, "tasks": [{"id": task["task_id"]} for task in recipe["tasks"]]}

    def _tell(self, command: Mapping[str, Any], report: dict[str, Any]) -> None:
        try:
            self._client.patch(f"{self._path}/commands/{command['id']}", report)
        except Problem as error:
            # A command we took before a crash is further already.
            if error.status not in REFUSED:
                raise

    def _report(self) -> None:
        while due := self._lab.due(time.monotonic())[:BATCH]:
            items = [{"progress": {"recipe_id": step.recipe_id, **step.progress}} for step in due]
            answers = self._client.post(f"{self._path}/updates", {"items": items})["items"]
            for answer in answers:
                if int(answer["status"]) >= 500:
                    # Said again as a whole, and in order: what was heard already changes nothing.
                    raise Problem(
                        int(answer["status"]), str(answer.get("title", "")), answer.get("detail", "")
                    )
            self._lab = self._lab.past(len(due))
            self._heed(due, answers)

    def _heed(self, steps: Iterable[Step], answers: Iterable[Mapping[str, Any]]) -> None:
        """A refused message is not repeated; the server is asked once how far its recipe really is."""
        contradicted = dict[int, None]()
        for step, answer in zip(steps, answers, strict=True):
            refused = {"refused": _why(answer)} if int(answer["status"]) >= 400 else {}
            self._note("progress", recipe_id=step.recipe_id, system=step.system, **step.progress, **refused)
            if refused:
                contradicted[step.recipe_id] = None
        for recipe_id in contradicted:
            self._resume(recipe_id)

    def _resume(self, recipe_id: int) -> None:
        try:
            recipe = self._client.get(f"/recipes/{recipe_id}", min_position=self._client.position)
        except Problem as error:
            if error.status not in REFUSED:
                raise
            recipe = {"recipe_id": recipe_id, "state": "unknown"}
        self._lab = resume(self._lab, recipe, time.monotonic())

    def _poll_seconds(self) -> int:
        due = self._lab.next_due_seconds
        return POLL_SECONDS if due is None else max(0, min(POLL_SECONDS, int(due - time.monotonic())))

    def _sleep_until_due(self) -> None:
        """Less than a second is no time for a long poll."""
        due = self._lab.next_due_seconds
        if due is not None:
            self._stop.wait(max(0.0, min(1.0, due - time.monotonic())))

    def _note(self, what: str, **more: Any) -> None:
        self._say({"lab_controller": self._fqdn, "what": what, **more})


# Answers about one command or recipe that asking again would not change.
REFUSED = frozenset({404, 409, 422})


def _why(answer: Mapping[str, Any]) -> str:
    return str(answer.get("detail") or answer.get("title") or answer["status"])


def _hopeless(error: Problem | Unreachable) -> bool:
    """What waiting does not mend: a token that is not accepted, a lab controller nobody knows."""
    return isinstance(error, Problem) and error.status in (401, 403, 404)
