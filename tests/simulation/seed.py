"""One seed from beginning to end: the service, its users, its faults, and the findings."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from typing import Any

from cli.lab.agent import LabAgent
from domain.events import Recorded
from replay.audit.grants import PREEMPTION
from tests.simulation.checks import final_state as end
from tests.simulation.checks import open_jobs as jobs
from tests.simulation.checks.commit_checks import CommitChecks
from tests.simulation.checks.ledger import Ledger
from tests.simulation.database.mapping import SharedMapper
from tests.simulation.database.server import Server
from tests.simulation.database.session import Datastore, Session
from tests.simulation.machine.chance import Chance
from tests.simulation.machine.loop import SimulatedLoop
from tests.simulation.machine.stand_ins import SimulatedEvent, stand_ins
from tests.simulation.machine.strands import RUNNING, Process, in_strand
from tests.simulation.people.access_manager import AccessManager
from tests.simulation.people.actor import Actor
from tests.simulation.people.contention import RuleMaker
from tests.simulation.people.faults import FaultInjector
from tests.simulation.people.open_jobs import OpenJobKeeper
from tests.simulation.people.operators import Operator
from tests.simulation.people.partitions import PartitionAdmin
from tests.simulation.people.seed_scene import HOUR, SeedScene, begin_log, scene_of
from tests.simulation.people.submitters import JobSubmitter
from tests.simulation.seed_story import SeedStory
from tests.simulation.service.lab_client import LabClient
from tests.simulation.service.network import Asker, Network
from tests.simulation.service.processes import ServiceProcesses

HOURS = 12.0
RULES_PER_HOUR = 1.5
# After this time without events nothing will happen: no watchdog and no reservation is longer.
QUIET_HOURS = 7
# Everything must come to rest within this time after the last fault.
MAX_REST_DAYS = 30


@dataclass(frozen=True)
class SeedOptions:
    """A seed with its options. `without` names the faults to leave out."""

    seed: int
    hours: float = HOURS
    without: frozenset[str] = frozenset()

    @property
    def command(self) -> str:
        more = [f"--hours {self.hours:g}"] if self.hours != HOURS else []
        more += [f"--without {name}" for name in sorted(self.without)]
        return " ".join(["python -m tests.simulation --seed", str(self.seed), *more])


@dataclass
class SeedOutcome:
    """The result of a seed. `findings` is empty if nothing is wrong."""

    options: SeedOptions
    findings: list[str] = field(default_factory=list)
    seconds: float = 0.0
    acknowledged: int = 0
    decisions: int = 0
    preemptions: int = 0
    jobs: int = 0
    events: int = 0
    # Digest of the whole content of the database at the end.
    digest: str = ""
    story: list[str] = field(default_factory=list)


class Seed:
    def __init__(self, options: SeedOptions, scene: SeedScene | None = None) -> None:
        """Prepare a run of the seed; `scene` replaces the one that it draws."""
        self.options = options
        self.chance = Chance(options.seed)
        self.loop = SimulatedLoop()
        self.loop.in_strand = in_strand
        self.story = SeedStory(self.loop)
        self.scene = scene or scene_of(self.chance, options.hours)
        self.server = Server(self.loop, self.chance.stream("database"))
        self.server.pace = self.scene.pace
        self.processes = ServiceProcesses(self.loop, self.chance, self.story.tell, self._failed)
        self.network = Network(self.chance.stream("network"), self.processes.serving)
        self.ledger = Ledger()
        self.mapper = SharedMapper()
        self.commit_checks = CommitChecks(self.scene.partitions, self.mapper, self._found, self.story.commit)
        self.server.log.on_commit.append(self.commit_checks.take)
        self.findings: list[str] = []
        self._over: asyncio.Event | None = None
        # The number of starts of lab controllers.
        self._starts = 0
        self.loop.on_endless_loop = lambda: self._found("it is in an endless loop: see the end of the story")

    # Findings

    def _found(self, finding: str) -> None:
        """Record a finding and end the seed: later findings could follow from the first."""
        self.story.tell("FOUND", finding)
        self.findings.append(finding)
        if self._over is not None:
            self._over.set()

    def _failed(self, process: Process, trace: str) -> None:
        self._found(f"{process.name} ended by an uncaught error:\n{trace}")

    # The run

    async def run(self) -> None:
        self._over = asyncio.Event()
        beginning = self.processes.outsider("beginning")
        RUNNING.set(beginning)
        await asyncio.to_thread(begin_log, self.scene)
        self.processes.furnish(self.server, self.scene.partitions)
        for each in self.scene.lab["lab_controllers"]:
            self.processes.add(each["fqdn"], partial(self._lab_controller, each["fqdn"]))
        people, faults = self._people(), self._faults()
        if await self._lasts(self.scene.hours * HOUR):
            return
        faults.calm()
        for each in people:
            each.leaving = True
        if await self._lasts(HOUR):
            return
        RUNNING.set(beginning)
        for each in people:
            if isinstance(each, Actor):
                await asyncio.to_thread(each.tidy_up)
        if not await self._comes_to_rest():
            await self._judge()

    async def _lasts(self, seconds: float) -> bool:
        """Return whether something was found within a time."""
        assert self._over is not None
        try:
            await asyncio.wait_for(self._over.wait(), seconds)
        except TimeoutError:
            return False
        return True

    async def _comes_to_rest(self) -> bool:
        """Wait until nothing happens any more, and return whether something was found instead."""
        quiet, length = 0, -1
        for _ in range(MAX_REST_DAYS * 24):
            if await self._lasts(HOUR):
                return True
            quiet = quiet + 1 if len(self.commit_checks.log) == length else 0
            length = len(self.commit_checks.log)
            if quiet >= QUIET_HOURS:
                return False
        self._found(f"after {MAX_REST_DAYS} days without misfortune it has not come to rest")
        return True

    async def _judge(self) -> None:
        log = self.commit_checks.log
        checks: tuple[Callable[[], Iterator[str]], ...] = (
            self.commit_checks.at_rest,
            lambda: self.mapper.spoilt(self.server.log.events),
            lambda: end.rest(self.scene.partitions, log),
            lambda: self.ledger.missing(log),
            lambda: jobs.open_for_ever(log),
            lambda: jobs.repeated_keys(log),
            lambda: end.scheduler_states(
                self.scene.partitions, self.processes.schedulers(), self.server, log
            ),
            lambda: end.read_models(self.server, log),
        )
        for check in checks:
            for finding in await asyncio.to_thread(lambda check=check: list(check())):  # type: ignore[misc]
                self._found(finding)

    # Participants

    def _lab_controller(self, fqdn: str, process: Process) -> LabAgent:
        self._starts += 1
        instance = str(self._starts)
        client: Any = LabClient(self.network, fqdn, instance)
        stop: Any = SimulatedEvent()
        agent = LabAgent(client, fqdn, self.scene.behaviour, instance=instance, show=self._said, stop=stop)
        process.strand(agent.run)
        return agent

    def _said(self, doing: dict[str, Any]) -> None:
        more = " ".join(f"{name}={doing[name]}" for name in doing if name not in ("lab_controller", "what"))
        self.story.tell(doing["lab_controller"], f"{doing['what']} {more}")

    def _people(self) -> list[JobSubmitter | Actor]:
        people: list[JobSubmitter | Actor] = []
        names = [each["name"] for each in self.scene.lab["users"]]
        own = self.processes.outsider("people")
        for name in names[: self.scene.submitters]:
            asker, dice = Asker(self.network, name, "admin"), self.chance.stream("submitter", name)
            contention = self.chance.stream("contention", name) if self.scene.contended else None
            submitter = JobSubmitter(
                asker,
                self.ledger,
                dice,
                self.story.tell,
                self.scene.partitions,
                contention,
                self._open_jobs(name),
            )
            per_hour = self.scene.jobs_per_hour / self.scene.submitters
            own.strand(lambda who=submitter, rate=per_hour: who.run(self.scene.lab, rate))  # type: ignore[misc]
            people.append(submitter)
        for kind, stream, rate in self._actors():
            asker, dice = Asker(self.network, names[-1], "admin"), self.chance.stream(stream)
            actor = kind(asker, self.ledger, dice, self.scene.lab, self.story.tell, self.scene.partitions)
            own.strand(lambda who=actor, rate=rate: who.run(rate))  # type: ignore[misc]
            people.append(actor)
        return people

    def _open_jobs(self, name: str) -> OpenJobKeeper | None:
        if not self.scene.keeps_open:
            return None
        dice = self.chance.stream("open jobs", name)
        return OpenJobKeeper(dice, self.scene.lab, self.scene.contended)

    def _actors(self) -> Iterator[tuple[type[Actor], str, float]]:
        """Yield the kinds of actors, each with its stream of chance and its rate."""
        yield Operator, "operator", self.scene.acts_per_hour
        yield AccessManager, "entitled", self.scene.says_per_hour
        if self.scene.contended:
            yield RuleMaker, "rules", RULES_PER_HOUR
        if len(self.scene.partitions) > 1:
            yield PartitionAdmin, "partition admin", self.scene.moves_per_hour

    def _faults(self) -> FaultInjector:
        dice = self.chance.stream("misfortune")
        faults = FaultInjector(self.processes, self.server, self.network, dice, self.story.tell)
        own = self.processes.outsider("misfortune")
        own.strand(lambda: faults.run(self.scene.faults_per_hour, self.options.without))
        return faults


def run_seed(options: SeedOptions, with_story: bool = False) -> SeedOutcome:
    """Run a seed and return its outcome, with its story if requested."""
    return _outcome(run(options), with_story)


def run(options: SeedOptions, scene: SeedScene | None = None) -> Seed:
    """Run a seed and return it."""
    logging.disable(logging.CRITICAL)
    seed = Seed(options, scene)
    try:
        stands = (lambda _: Session(seed.server), partial(Datastore, seed.server), lambda: seed.mapper)
        with stand_ins(seed.loop, *stands):
            seed.loop.run_until_complete(seed.run())
    finally:
        logging.disable(logging.NOTSET)
        seed.loop.close()
    return seed


def _outcome(seed: Seed, with_story: bool) -> SeedOutcome:
    log: Sequence[Recorded] = seed.commit_checks.log
    decided = {
        (each.commit_end, each.stamp.number): each.stamp.cause for each in log if each.stamp.basis is not None
    }
    return SeedOutcome(
        seed.options,
        seed.findings,
        seed.loop.seconds,
        seed.ledger.acknowledged,
        len(decided),
        sum(cause.startswith(PREEMPTION) for cause in decided.values()),
        len(seed.ledger.requested),
        len(log),
        _digest(seed.server),
        list(seed.story.lines()) if with_story else [],
    )


def _digest(server: Server) -> str:
    held = sha256()
    for row in server.log.events:
        held.update(repr(row).encode())
    held.update(repr(list(server.log.commits.items())).encode())
    held.update(repr(list(server.read.dump())).encode())
    return held.hexdigest()
