"""Submitters: they submit jobs and change or cancel some of them; the answers go to the ledger."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import orjson

from api.client.problems import ServerProblem, Unreachable
from api.intake import read_job
from api.parts import Parts
from api.use_cases.change_job import cancel_job, cancel_recipe_set, change_job, change_priority, return_recipe
from api.use_cases.idempotency import commit_once
from api.use_cases.ports import RequestContext
from api.use_cases.report_drafts import RecipeItem
from api.use_cases.report_progress import report_progress
from api.use_cases.submit_job import submit_job
from domain.contention.documents import stored_locks
from domain.errors import LabledgerError
from domain.partition_numbers import PartitionIdentity
from domain.priority import Priority
from domain.recipe_set.messages import ReportLocks
from replay.workload.generated_jobs import generate_jobs
from tests.simulation.checks.ledger import Ledger
from tests.simulation.machine.strands import current
from tests.simulation.people.contention import NETWORKS, contended
from tests.simulation.people.open_jobs import OpenJobKeeper
from tests.simulation.people.partitions import in_partition
from tests.simulation.service.network import Asker

JSON = "application/json"
SECOND_THOUGHTS = 0.35


def _is_acknowledged(kind: str, number: int) -> bool:
    """Return True: jobs depend only on acknowledged ones."""
    return True


class JobSubmitter:
    """Submits jobs; `run` in a strand of its own until `leave`."""

    def __init__(
        self,
        asker: Asker,
        ledger: Ledger,
        dice: Random,
        tell: Callable[[str, str], None],
        partitions: Sequence[PartitionIdentity],
        contention: Random | None = None,
        open_jobs: OpenJobKeeper | None = None,
    ) -> None:
        self.leaving = False
        self._asker = asker
        self._ledger = ledger
        self._dice = dice
        self._tell = tell
        self._partitions = partitions
        self._contention = contention
        self._open_jobs = open_jobs
        self._jobs: list[dict[str, Any]] = []
        self._keys = 0

    def run(self, lab: dict[str, Any], per_hour: float) -> None:
        generated = generate_jobs(lab, self._dice.randrange(1 << 30), 1 << 30)
        for job in (in_partition(each, self._dice, self._partitions) for each in generated):
            current().wait(self._dice.expovariate(per_hour / 3600))
            if self.leaving:
                return
            self._submit(job if self._contention is None else contended(job, self._contention, self._jobs))
            while self._jobs and self._dice.random() < SECOND_THOUGHTS:
                self._think_again()
            self._see_to_open_jobs()

    def _submit(self, job: dict[str, Any]) -> None:
        marker = f"{self._asker.actor} {len(self._ledger.requested)}"
        if self._open_jobs is not None:
            job = self._open_jobs.opened(job, marker)
        body = orjson.dumps({**job, "whiteboard": marker})

        async def submit(services: Parts, request: RequestContext) -> Any:
            name_index = services.feed.directory.name_index()
            spec = read_job(
                body, JSON, name_index, request.actor, is_admin=True, exists=_is_acknowledged
            ).spec
            return await commit_once(services.log, request, lambda: submit_job(services, request, spec))

        self._ledger.requested.append(marker)
        done = self._ask(f"submits {marker!r}", submit, marker)
        if done is not None:
            answer = orjson.loads(done.answer)
            self._ledger.submitted(marker, answer, done)
            self._jobs.append(answer)
            if self._open_jobs is not None:
                self._open_jobs.keep(job, answer)

    def _see_to_open_jobs(self) -> None:
        if self._open_jobs is None or not self._jobs:
            return
        for (what, use_case), take in self._open_jobs.acts(self._jobs[-1]):
            take(self._ask_once(what, use_case))

    def _think_again(self) -> None:
        # Mostly one of the latest jobs, while the scheduler answers it.
        job = self._jobs[-1] if self._dice.random() < 0.6 else self._dice.choice(self._jobs)
        acts = [self._cancel, self._rename]
        if job["recipe_ids"]:
            acts += [self._cancel_set, self._reprioritise, self._return]
            acts += [] if self._contention is None else [self._narrow] * 3
        self._dice.choice(acts)(job)

    def _cancel(self, job: dict[str, Any]) -> None:
        number = job["job_id"]
        self._ask_once(
            f"cancels job {number}",
            lambda services, request: cancel_job(services, request, number, "not needed"),
            lambda: self._ledger.cancelled(job["recipe_ids"]),
        )

    def _cancel_set(self, job: dict[str, Any]) -> None:
        number = self._dice.choice(job["recipe_set_ids"])
        self._ask_once(
            f"cancels recipe set {number}",
            lambda services, request: cancel_recipe_set(services, request, number, "not needed"),
            lambda: self._ledger.cancelled_sets.append(number),
        )

    def _reprioritise(self, job: dict[str, Any]) -> None:
        number, priority = self._dice.choice(job["recipe_set_ids"]), self._dice.choice(list(Priority))
        self._ask_once(
            f"gives recipe set {number} the priority {priority.name}",
            lambda services, request: change_priority(services, request, number, priority),
        )

    def _rename(self, job: dict[str, Any]) -> None:
        number, changes = job["job_id"], {"retention_tag": self._dice.choice(("scratch", "60days"))}
        self._ask_once(
            f"changes job {number}", lambda services, request: change_job(services, request, number, changes)
        )

    def _return(self, job: dict[str, Any]) -> None:
        number = self._dice.choice(job["recipe_ids"])
        self._ask_once(
            f"returns recipe {number}", lambda services, request: return_recipe(services, request, number)
        )

    def _narrow(self, job: dict[str, Any]) -> None:
        """Give up locks of a recipe, in place of its lab controller: those that the report does not name."""
        assert self._contention is not None, "only jobs of contended seeds declare locks"
        number = self._contention.choice(job["recipe_ids"])
        kept = stored_locks(self._contention.choice(({}, {"network": {"Exclusive": [NETWORKS[0]]}})))
        item = RecipeItem(number, ReportLocks(kept))

        async def narrow(services: Parts, request: RequestContext) -> Any:
            (answer,) = await report_progress(services, request, None, [item])
            if isinstance(answer, LabledgerError):
                raise answer
            return answer

        self._ask_once(f"narrows the locks of recipe {number}", narrow)

    def _ask_once(
        self, what: str, use_case: Callable[..., Any], acknowledged: Callable[[], None] = lambda: None
    ) -> Any:
        """Send a request with a key of its own, and record it if it is acknowledged; return its commit."""
        self._keys += 1
        refused = len(self._ledger.refusals)

        async def once(services: Parts, request: RequestContext) -> Any:
            return await commit_once(services.log, request, lambda: use_case(services, request))

        done = self._ask(what, once, f"{self._asker.actor}/{self._keys}")
        if len(self._ledger.refusals) == refused:
            self._ledger.committed(what, done)
            acknowledged()
        return done

    def _ask(self, what: str, operation: Callable[..., Any], key: str) -> Any:
        """Return the answer, None if the request was refused or not answered; the ledger records which."""
        try:
            done = self._asker.ask(operation, key)
        except (ServerProblem, Unreachable) as error:
            self._ledger.refusals.append(f"{what}: {error}")
            self._tell(self._asker.actor, f"{what}: {error}")
            return None
        self._tell(self._asker.actor, what if done is None else f"{what}: at {done.position}")
        return done
