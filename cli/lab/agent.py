"""The agent of a simulated lab controller: a loop that takes commands and reports over HTTP.

The agent keeps nothing on disk. After a crash it reads all commands from the start of the log (`after=0`),
selects those that can still be under way, registers with all that its machines run, and requests the states
of their recipes from the server. It reports only on commands that are not finished.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from threading import Event
from typing import Any

from api.client import Client, ServerProblem, Unreachable
from cli.lab.link import LabLink
from cli.lab.sender import Sender, refusal
from replay.simulated_lab.behaviour import Behaviour
from replay.simulated_lab.delivery import Delivery, next_delivery
from replay.simulated_lab.lab import SimulatedLab, obey
from replay.simulated_lab.recovery import recall, under_way
from replay.simulated_lab.registration import running_after

POLL_SECONDS = 30
PAUSE_SECONDS = 1.0
MAX_PAUSE_SECONDS = 15.0
# Maximum number of steps in one request.
BATCH = 200

# Commands that switch the power of a system.
SWITCHING = frozenset({"provision", "power"})
FORBIDDEN = 403

Show = Callable[[dict[str, Any]], None]


class LabAgent:
    """One simulated lab controller. It reports its actions to `show`; `stop` ends it.

    `instance` names this start of the agent; each loss of memory is another instance.
    """

    def __init__(
        self, client: Client, fqdn: str, behaviour: Behaviour, *, instance: str, show: Show, stop: Event
    ) -> None:
        self._link = LabLink(client, fqdn)
        self._sender = Sender(self._link, self._report)
        self._fqdn = fqdn
        self._show = show
        self._stop = stop
        self._lab = SimulatedLab(behaviour)
        self._last_command = 0
        self._remembers = False
        self._instance, self._losses = instance, 0
        self._gets_power_settings = True

    def run(self, *, once: bool = False) -> None:
        """Work until stopped; with `once`, until no command and no message is left."""
        failed = 0
        while not self._stop.is_set():
            try:
                busy = self._run_round(wait=not once)
                failed = 0
            except (Unreachable, ServerProblem) as error:
                if _is_final(error):
                    raise
                failed += 1
                self._report("waiting", reason=str(error))
                self._stop.wait(min(PAUSE_SECONDS * 2.0 ** min(failed - 1, 10), MAX_PAUSE_SECONDS))
            else:
                if once and not busy:
                    return

    def _run_round(self, *, wait: bool) -> bool:
        """Take commands, then send due messages. Return whether there were commands, or messages are left."""
        if not self._remembers:
            self._recall()
        commands = self._link.commands(self._last_command, self._poll_seconds() if wait else 0)
        for command in commands:
            self._obey(self._link.with_guest_tasks(command))
        while not self._stop.is_set() and (due := next_delivery(self._lab, time.monotonic(), BATCH)):
            self._lab = self._vanish(due) if due.kind == "silence" else self._sender.send(self._lab, due)
        self._sleep_until_due()
        return bool(commands) or bool(self._lab.agenda)

    def _recall(self) -> None:
        given = self._link.all_commands()
        open_ids = {command["id"] for command in under_way(given)}
        commands = [self._link.with_guest_tasks(item) if item["id"] in open_ids else item for item in given]
        self._lab = recall(self._lab.behaviour, commands, time.monotonic())
        begun = [command for command in commands if command["id"] in open_ids]
        self._report_under_way(begun)
        self._register(commands, begun)
        self._lab = self._sender.ask_about(self._lab, self._lab.agenda)
        self._last_command = max([0, *(int(command["id"]) for command in given)])
        self._remembers = True

    def _register(self, commands: list[dict[str, Any]], begun: list[dict[str, Any]]) -> None:
        lab, running = running_after(self._lab, commands, begun, time.monotonic())
        answers = self._link.register(f"{self._instance}/{self._losses}", running)
        self._lab = lab
        for item, answer in zip(running, answers, strict=False):
            self._report("runs", **item, **refusal(answer))

    def _report_under_way(self, commands: list[dict[str, Any]]) -> None:
        """Report each new command, and the number of the commands that had begun before the restart."""
        begun = [command for command in commands if command.get("state", "queued") != "queued"]
        if begun:
            self._report("resumes", commands=len(begun))
        for command in commands:
            if command not in begun:
                self._report_command(command, self._power_type(command))

    def _obey(self, command: dict[str, Any]) -> None:
        switched_by = self._power_type(command)
        self._lab = obey(self._lab, command, time.monotonic())
        self._last_command = int(command["id"])
        self._report_command(command, switched_by)

    def _report_command(self, command: Mapping[str, Any], power_type: str | None) -> None:
        about = "job_id" if command["kind"] == "delete-logs" else "recipe_id"
        shown = ("system", about, "power", "action")
        fields = {name: command[name] for name in shown if command.get(name) is not None}
        if power_type is not None:
            fields["power_type"] = power_type
        self._report(str(command["kind"]), **fields)

    def _power_type(self, command: Mapping[str, Any]) -> str | None:
        """Fetch the power settings for a command that switches a system; return their type, None without any.

        They are fetched for each command, as they may change. The service refuses them to an admin who acts
        as the lab controller: then they are not asked for again.
        """
        if command["kind"] not in SWITCHING or not self._gets_power_settings:
            return None
        try:
            return self._link.power_type(str(command["system"]))
        except ServerProblem as error:
            if error.status != FORBIDDEN:
                raise
            self._gets_power_settings = False
            self._report("no power settings", reason="the token is not that of the lab controller")
            return None

    def _vanish(self, delivery: Delivery) -> SimulatedLab:
        """Pause all communication; after a loss of memory, also have the state restored in the next round."""
        (step,) = delivery.steps
        self._report("vanished", **step.body)
        self._stop.wait(step.body["seconds"])
        now = time.monotonic()
        if step.body["forgets"]:
            self._remembers = False
            self._losses += 1
        self._report("returned")
        # This silence replaces those that became due meanwhile.
        return self._lab.without(lambda step: step.kind == "silence" and step.due_seconds <= now)

    def _poll_seconds(self) -> int:
        due = self._lab.next_due_seconds
        return POLL_SECONDS if due is None else max(0, min(POLL_SECONDS, int(due - time.monotonic())))

    def _sleep_until_due(self) -> None:
        """Sleep until the next message is due, at most a second: that is too short for a long poll."""
        due = self._lab.next_due_seconds
        if due is not None:
            self._stop.wait(max(0.0, min(1.0, due - time.monotonic())))

    def _report(self, what: str, **more: Any) -> None:
        self._show({"lab_controller": self._fqdn, "what": what, **more})


def _is_final(error: ServerProblem | Unreachable) -> bool:
    """Return whether retrying is useless: the token is refused, or the lab controller does not exist."""
    return isinstance(error, ServerProblem) and error.status in (401, 403, 404)
