"""The agents of `labledger lab simulate`, with a thread for each lab controller."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any
from uuid import uuid4

from api.client import Client, ServerProblem, Unreachable
from api.headers import ACTS_AS
from cli.lab.agent import LabAgent
from replay.simulated_lab.behaviour import Behaviour
from runtime.locks import LockClass

# Interval of checks for lab controllers that were added or enabled.
LOOK_SECONDS = 5.0
LOOK_ONCE_SECONDS = 0.05
# Maximum wait for a thread that is blocked in writing.
LAST_WORD_SECONDS = 1.0
SIGNALS = (signal.SIGTERM, signal.SIGINT)
NOT_FOUND = 404


@dataclass
class Simulation:
    """The agents of lab controllers, one thread for each. Agents report their actions to `show`."""

    client: Client
    show: Callable[[dict[str, Any]], None]
    behaviour: Behaviour
    fqdns: Sequence[str]
    once: bool
    _stop: Event = field(default_factory=Event)
    _threads: dict[str, Thread] = field(default_factory=dict)
    _errors: list[Exception] = field(default_factory=list)
    _report_lock: threading.Lock = field(default_factory=LockClass.AGENT_REPORTS.mutex)

    def run(self) -> None:
        """Run until a signal, or with `once` until all is done. Raise the first error of an agent."""
        with _signals(self._stop):
            for fqdn in self._simulated_fqdns():
                self._start(fqdn)
            while not self._done():
                self._stop.wait(LOOK_ONCE_SECONDS if self.once else LOOK_SECONDS)
                if not self.once and not self._stop.is_set():
                    self._start_new()
            self._end()
        if self._errors:
            raise self._errors[0]

    def _end(self) -> None:
        self._stop.set()
        # A thread that writes during the shutdown of the interpreter would crash it.
        if self._report_lock.acquire(timeout=LAST_WORD_SECONDS):
            self._report_lock.release()

    def _done(self) -> bool:
        working = any(thread.is_alive() for thread in self._threads.values())
        return self._stop.is_set() or bool(self._errors) or (self.once and not working)

    def _simulated_fqdns(self) -> list[str]:
        """Return the named lab controllers, or all enabled ones if none is named."""
        if self.fqdns:
            return list(self.fqdns)
        registered = self.client.pages("/lab-controllers", "lab_controllers")["lab_controllers"]
        return [lab_controller["fqdn"] for lab_controller in registered if lab_controller["enabled"]]

    def _start_new(self) -> None:
        try:
            fqdns = self._simulated_fqdns()
        except (Unreachable, ServerProblem):
            # The agents report that they wait for the server.
            return
        for fqdn in fqdns:
            if fqdn not in self._threads or not self._threads[fqdn].is_alive():
                self._start(fqdn)

    def _start(self, fqdn: str) -> None:
        # A daemon thread, so that the end of the program does not wait for a long poll.
        self._threads[fqdn] = Thread(target=self._work, args=(fqdn,), name=fqdn, daemon=True)
        self._threads[fqdn].start()

    def _work(self, fqdn: str) -> None:
        try:
            with self.client.another(headers={ACTS_AS: fqdn}) as client:
                agent = LabAgent(
                    client, fqdn, self.behaviour, instance=uuid4().hex, show=self._report, stop=self._stop
                )
                agent.run(once=self.once)
        except Exception as error:
            # A deleted lab controller is an error only if the user named it.
            is_deleted = isinstance(error, ServerProblem) and error.status == NOT_FOUND and not self.fqdns
            if is_deleted:
                self._report({"lab_controller": fqdn, "what": "gone"})
            else:
                self._errors.append(error)

    def _report(self, action: dict[str, Any]) -> None:
        with self._report_lock:
            if not self._stop.is_set():
                self.show(action)


@contextmanager
def _signals(stop: Event) -> Iterator[None]:
    """Turn signals into `stop`, so that no thread is interrupted while it writes."""
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in SIGNALS}
    try:
        yield
    finally:
        stop.set()
        for number, handler in before.items():
            signal.signal(number, handler)
