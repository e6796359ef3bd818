"""The requests of clients and their answers. Each must be in the log exactly once."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from replay.audit import EventRecord

# Progress in a report -> topics of the events that an accepted report must have caused.
PROGRESS = {
    "installing": ("recipe.installing",),
    "running": ("recipe.task-started",),
    "completed": ("recipe.completed", "recipe.reserved"),
    "aborted": ("recipe.aborted", "recipe.reserved"),
}
TASK = {"completed": ("recipe.task-completed",), "aborted": ("recipe.task-aborted",)}
PATHS = {"systems": "system", "lab-controllers": "lab-controller"}
# Changed field -> topics of the events that the change must have caused.
CHANGES = {
    ("draining", True): "system.drained",
    ("draining", False): "system.undrained",
    ("enabled", True): "lab-controller.enabled",
    ("enabled", False): "lab-controller.disabled",
    ("condition", "Automated"): "system.condition-changed",
}
TASK_FIELDS = ("task_id", "result")


@dataclass(frozen=True)
class Acknowledged:
    """A fact that was acknowledged.

    Up to this position the log contains an event of one of these topics about the subject, with this data.
    """

    position: int
    subject: str
    topics: tuple[str, ...]
    data: tuple[tuple[str, Any], ...] = ()

    def is_by(self, record: EventRecord) -> bool:
        return (
            record.subject == self.subject
            and record.topic in self.topics
            and record.position <= self.position
            and all(record.data.get(name) == value for name, value in self.data)
        )


@dataclass
class Book:
    """The requests and answers, written by the threads of clients.

    `asked` contains the whiteboards of all jobs whose submission began, `jobs` maps a whiteboard to the ids
    in the answer.
    """

    acknowledged: list[Acknowledged] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)
    jobs: dict[str, int] = field(default_factory=dict)
    repeated: int = 0
    wrong: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, *facts: Acknowledged) -> None:
        with self._lock:
            self.acknowledged += facts

    def submitted(self, whiteboard: str, answer: dict[str, Any], position: int) -> None:
        job_id = answer["job_id"]
        self.jobs[whiteboard] = job_id
        data = (("whiteboard", whiteboard),)
        self.note(
            Acknowledged(position, f"job/{job_id}", ("job.submitted",), data),
            *(
                Acknowledged(position, f"recipe-set/{number}", ("recipe-set.submitted",))
                for number in answer["recipe_set_ids"]
            ),
            *(Acknowledged(position, f"recipe/{number}", ("recipe.new",)) for number in answer["recipe_ids"]),
        )

    def since(self, number: int) -> list[Acknowledged]:
        with self._lock:
            return self.acknowledged[number:]


def of_a_change(answer: httpx.Response) -> Iterator[Acknowledged]:
    """Yield the facts that follow from the answer to a change of a system or a lab controller."""
    request = answer.request
    kind = PATHS.get(request.url.path.split("/")[1])
    if request.method != "PATCH" or kind is None or not answer.is_success or not answer.json()["changed"]:
        return
    position, name = int(answer.headers["labledger-position"]), request.url.path.split("/")[2]
    for field_of, value in json.loads(request.content).items():
        if topic := CHANGES.get((field_of, value)):
            yield Acknowledged(position, f"{kind}/{name}", (topic,))


class LabJournal:
    """The journal of accepted reports, written by a lab agent that may be killed at any time."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._read = 0

    def news(self) -> Iterator[Acknowledged]:
        if not self._file.exists():
            return
        with self._file.open("rb") as file:
            file.seek(self._read)
            for line in file:
                # An incomplete line is read the next time.
                if not line.endswith(b"\n"):
                    break
                self._read += len(line)
                yield _progress(json.loads(line))


def _progress(line: dict[str, Any]) -> Acknowledged:
    body, subject = line["body"], f"recipe/{line['recipe_id']}"
    data = tuple((name, body[name]) for name in TASK_FIELDS if name in body)
    if "watchdog_seconds" in body:
        topics: tuple[str, ...] = ("recipe.watchdog-set",)
    elif "result" in body:
        topics = ("recipe.task-result",)
    elif "task_id" in body and body["state"] in TASK:
        topics = TASK[body["state"]]
    else:
        topics = PROGRESS[body["state"]]
    return Acknowledged(line["position"], subject, topics, data)
