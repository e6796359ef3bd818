"""People who submit, change and cancel jobs and read the log during faults.

Each repeats a request with its key until it is answered, and records the answer in the book.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from random import Random
from typing import Any, NamedTuple

import httpx

from api.headers import ACTS_AS
from tests.acceptance.chores import Chores
from tests.soak.book import Acknowledged, Book, of_a_change
from tests.soak.retrying_transport import ANSWER_SECONDS, RetryingTransport, Stopped

# The request came too late for the present state.
OVERTAKEN = (404, 409, 412)
PAUSE_SECONDS = 0.2
PRIORITIES = ("Low", "Medium", "Normal", "High", "Urgent")
# Requests of an errand.
CHANGES, CANCELS, REPEATS = 0.3, 0.08, 0.15
# Number of recent recipe sets that errands choose from.
LATELY = 20
ENDED = ("recipe.completed", "recipe.cancelled", "recipe.aborted")


class SetOf(NamedTuple):
    """A submitted recipe set: its number, its recipes and its partition."""

    number: int
    recipe_ids: tuple[int, ...]
    partition: str


Errand = Callable[["SoakUser"], None]


class SoakUser:
    """A thread that performs one errand after another."""

    def __init__(self, name: str, book: Book, doors: Sequence[str], token: str, seed: int) -> None:
        self.name = name
        self.book = book
        self.chance = Random(f"{name}/{seed}")
        self._doors = doors
        self._token = token
        self._stop = threading.Event()
        self._numbers = itertools.count(1)
        self._said: list[tuple[str, str, Any, str, Any]] = []

    def live(self, errand: Errand) -> None:
        while not self._stop.is_set():
            try:
                errand(self)
            except Stopped:
                return
            except Exception as error:  # any error: the soak reports it and fails
                self.book.wrong.append(f"{self.name}: {error!r}")
                return

    def stop(self) -> None:
        self._stop.set()

    def pause(self, seconds: float = PAUSE_SECONDS) -> None:
        if self._stop.wait(seconds):
            raise Stopped

    def client(self) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self._token}"}
        transport = RetryingTransport(self._doors, self._stop)
        noting = {"response": [self._note]}
        return httpx.Client(base_url=self._doors[0], headers=headers, transport=transport, event_hooks=noting)

    def _note(self, answer: httpx.Response) -> None:
        answer.read()
        self.book.note(*of_a_change(answer))

    def ask(self, method: str, path: str, *, key: str = "", acts_as: str = "", **more: Any) -> httpx.Response:
        given = {"Idempotency-Key": key, ACTS_AS: acts_as}
        headers = {name: value for name, value in given.items() if value}
        with self.client() as client:
            return client.request(method, path, headers=headers, **more)

    def write(self, method: str, path: str, body: Any, overtaken: Sequence[int] = OVERTAKEN) -> Any:
        """Send a change and return its answer and position, None if it came too late."""
        key = f"{self.name}-{next(self._numbers)}" if method == "POST" else ""
        answer = self.ask(method, path, key=key, json=body)
        if answer.status_code in overtaken:
            return None
        if not answer.is_success:
            raise AssertionError(f"{method} {path}: {answer.status_code} {answer.text}")
        # A request without effect is not repeated.
        if key and answer.json().get("cancelled", True):
            self._said.append((method, path, body, key, answer.json()))
        return answer.json(), int(answer.headers["labledger-position"])

    def repeat(self) -> None:
        """Repeat an old request with its key, as a client that lost the answer does; the answer must be
        the same.
        """
        if self._said:
            method, path, body, key, first = self.chance.choice(self._said)
            answer = self.ask(method, path, key=key, json=body)
            if not answer.is_success or answer.json() != first:
                raise AssertionError(f"{key} again: {answer.status_code} {answer.text}, at first {first}")
            self.book.repeated += 1


def submitting(jobs: Iterator[dict[str, Any]], wanted: Callable[[], bool], sets: list[SetOf]) -> Errand:
    """Return an errand that submits jobs while too few are unfinished, and changes or cancels sets in
    between.

    The errand adds its submitted sets to `sets`.
    """

    def errand(person: SoakUser) -> None:
        submitted = submit(person, next(jobs)) if wanted() else None
        if submitted is not None:
            sets.append(submitted)
        chance = person.chance
        if sets and chance.random() < CHANGES:
            _prioritise(person, chance.choice(sets[-LATELY:]).number)
        if sets and chance.random() < CANCELS:
            cancel(person, chance.choice(sets[-LATELY:]))
        if chance.random() < REPEATS:
            person.repeat()
        person.pause()

    return errand


def submit(person: SoakUser, job: dict[str, Any]) -> SetOf | None:
    """Submit a job of one recipe set. Return None if its partition, which is not `default`, takes no jobs."""
    whiteboard = f"{person.name}: {job['whiteboard']}"
    person.book.asked.add(whiteboard)
    stops = (409,) if job["partition"] != "default" else ()
    done = person.write("POST", "/jobs", {**job, "whiteboard": whiteboard}, overtaken=stops)
    if done is None:
        return None
    answer, position = done
    person.book.submitted(whiteboard, answer, position)
    (number,) = answer["recipe_set_ids"]
    return SetOf(number, tuple(answer["recipe_ids"]), job["partition"])


def _prioritise(person: SoakUser, number: int) -> None:
    priority = person.chance.choice(PRIORITIES)
    done = person.write("PATCH", f"/recipe-sets/{number}", {"priority": priority})
    if done is not None and done[0]["changed"]:
        topics, data = ("recipe-set.priority-changed",), (("priority", priority),)
        person.book.note(Acknowledged(done[1], f"recipe-set/{number}", topics, data))


def cancel(person: SoakUser, one: SetOf) -> None:
    done = person.write("POST", f"/recipe-sets/{one.number}/cancel", {"reason": "not needed any more"})
    for recipe_id in one.recipe_ids if done is not None and done[0]["cancelled"] else ():
        person.book.note(Acknowledged(done[1], f"recipe/{recipe_id}", ENDED))


def operating(person: SoakUser, over: threading.Event, spared: Sequence[str]) -> Errand:
    """Return an errand of an operator; when `over` is set it only undoes what keeps the lab from rest."""
    chores = Chores(person.client, person.chance.random(), spared)

    def errand(person: SoakUser) -> None:
        if over.is_set():
            chores.end()
        else:
            chores.do()
        person.pause(1.0)

    return errand


def watching(seen: dict[int, tuple[str, str]]) -> Errand:
    """Return an errand that reads the log page by page, and the main read resources in between."""
    after = 0

    def errand(person: SoakUser) -> None:
        nonlocal after
        answer = person.ask("GET", "/events", params={"after": after, "limit": 1000})
        for event in answer.json()["events"]:
            if event["position"] != after + 1:
                raise AssertionError(f"event {event['position']} came after {after}")
            after = event["position"]
            seen[after] = (event["subject"], event["topic"])
        for path in ("/queue", "/systems", "/idle-pool", "/jobs"):
            answer = person.ask("GET", path, params={"limit": 100})
            assert answer.status_code == 200, f"{path}: {answer.status_code} {answer.text}"
        person.pause(1.0)

    return errand


@contextmanager
def at_work(people: dict[SoakUser, Errand]) -> Iterator[None]:
    threads = [
        threading.Thread(target=who.live, args=(errand,), name=who.name) for who, errand in people.items()
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for who in people:
            who.stop()
        for who, thread in zip(people, threads, strict=True):
            thread.join(2 * ANSWER_SECONDS)
            if thread.is_alive():
                who.book.wrong.append(f"{who.name}: hangs")
