"""One soak: a load, faults at random moments, and checks of the log after each."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from copy import deepcopy
from dataclasses import dataclass, field
from random import Random
from statistics import median
from typing import Any

from replay.workload.generated_jobs import generate_jobs
from replay.workload.generated_lab import generate_lab
from store.event_log import EventLog
from tests.acceptance.metrics import impossible_findings
from tests.harness.waiting import wait_until
from tests.soak.book import LabJournal
from tests.soak.contention import RULES, Ruler, contended, lift_rules, share_lab
from tests.soak.faults import FAULTS, Fault, Struck, all_decide, fill_disk
from tests.soak.log_history import LogHistory
from tests.soak.people import (
    Errand,
    SetOf,
    SoakUser,
    at_work,
    cancel,
    operating,
    submit,
    submitting,
    watching,
)
from tests.soak.shuffled_rounds import shuffled_rounds
from tests.soak.site import SoakSite

LAB = "lab.probe.example.com"
SYSTEM = f"only.{LAB}"
# The only system of this arch.
ARCH = "ppc64"


def with_probe(lab: dict[str, Any]) -> dict[str, Any]:
    """Return a lab document with the probe's lab added."""
    found = deepcopy(lab)
    found["lab_controllers"].append({"fqdn": LAB, "enabled": True})
    tree = {**found["distro_trees"][0], "id": 1, "name": "probe", "arch": ARCH}
    found["distro_trees"].append({**tree, "urls": {LAB: [f"http://{LAB}/"]}})
    system = {"type": "Machine", "arches": [ARCH], "owner": "admin", "condition": "Automated", "pools": []}
    found["systems"].append({**system, "fqdn": SYSTEM, "lab_controller": LAB})
    return found


class Probe:
    def __init__(self, person: SoakUser) -> None:
        self._person = person
        self._numbers = itertools.count(1)

    def submit(self) -> SetOf:
        """Submit a recipe that only that machine can run."""
        # A silent lab gets no recipes.
        self._person.ask("GET", f"/lab-controllers/{LAB}/commands", acts_as=LAB).raise_for_status()
        distro = [{"element": "name", "value": "probe"}, {"element": "arch", "value": ARCH}]
        recipe = {"distro_requires": {"and": distro}, "host_requires": {}, "tasks": [{"name": "/probe"}]}
        sets = [{"priority": "Urgent", "recipes": [recipe]}]
        whiteboard = f"probe {next(self._numbers)}"
        job = {"whiteboard": whiteboard, "partition": "default", "recipe_sets": sets}
        submitted = submit(self._person, job)
        assert submitted is not None, "the partition default takes no jobs"
        return submitted

    def cancel(self, one: SetOf) -> None:
        cancel(self._person, one)


LABS, SYSTEMS, SUBMITTERS = 2, 24, 3
# Maximum number of unfinished recipes.
QUEUE = 70
MANY_JOBS = 1_000_000
# Pause between faults.
QUIET_SECONDS = (0.2, 2.0)
# Maximum time to recover; a longer one counts as hung.
BACK_SECONDS = 60.0
REST_SECONDS = 240.0


@dataclass
class Recovery:
    """A fault and the recovery from it.

    `ready_seconds` is the time until both machines were ready, `allocation_seconds` the time until a recipe
    got a system.
    """

    kind: str
    what: str
    began_seconds: float
    ready_seconds: float | None = None
    allocation_seconds: float | None = None

    def __str__(self) -> str:
        figures = f"ready {shown(self.ready_seconds)}, next allocation {shown(self.allocation_seconds)}"
        return f"{self.began_seconds:7.1f} s  {self.what}: {figures}"


@dataclass
class Soak:
    site: SoakSite
    faults: int
    timeline: list[Recovery] = field(default_factory=list)
    seen: dict[int, tuple[str, str]] = field(default_factory=dict)
    _began: float = field(default_factory=time.monotonic)

    def run(self) -> LogHistory:
        """Inject all faults, then wait for rest. Raise AssertionError with the first finding."""
        site = self.site
        print(f"LABLEDGER_SEED={site.seed} LABLEDGER_FAULTS={self.faults}; logs in {site.logs}", flush=True)
        lab = generate_lab(site.seed, labs=LABS, systems=SYSTEMS)
        file = site.folder / "lab.json"
        file.write_text(json.dumps(with_probe(lab)))
        loaded = site.labledger("lab", "load", str(file))
        assert loaded.returncode == 0, loaded.stderr
        site.labs = tuple(each["fqdn"] for each in lab["lab_controllers"])
        share_lab(self._person("first ruler"), site.labs[-1])
        site.start_lab()
        with closing(EventLog(site.owner_url)) as log:
            history = LogHistory(log, self.site.book, LabJournal(site.journal))
            over, operator = threading.Event(), self._person("operator")
            staying = {operator: operating(operator, over, (SYSTEM, LAB))}
            with at_work({**staying, self._person("watcher"): watching(self.seen)}):
                with at_work(self._submitters(lab, history)):
                    self._strike(history)
                over.set()
                self._come_to_rest(history)
                wait_until(lambda: self._seen_to(history.end), "the watcher to have seen all", BACK_SECONDS)
            right([*self.site.book.wrong, *history.check_again()])
            right(impossible_findings(self._person("auditor")))
        assert history.machines_failed, "nothing ever went wrong with a machine"
        for topic in CONTENTION:
            assert history.count(topic), f"{topic} never occurred"
        assert len(history.grants) == PARTITIONS, f"grants by partition: {history.grants}"
        assert any(queue.startswith("root.teams.") for queue in history.queues), f"queues: {history.queues}"
        return history

    def _submitters(self, lab: dict[str, Any], history: LogHistory) -> dict[SoakUser, Errand]:
        found: dict[SoakUser, Errand] = {}
        for number in range(SUBMITTERS):
            sets: list[SetOf] = []
            seed = self.site.seed + number
            jobs = contended(generate_jobs(lab, seed, MANY_JOBS), Random(f"contention/{seed}"), sets)
            person = self._person(f"submitter-{number}")
            found[person] = submitting(jobs, lambda: history.unfinished < QUEUE, sets)
        return found

    def _person(self, name: str) -> SoakUser:
        return SoakUser(name, self.site.book, self.site.urls, self.site.token, self.site.seed)

    def _strike(self, history: LogHistory) -> None:
        chance = Random(f"faults/{self.site.seed}")
        probe = Probe(self._person("prober"))
        self._placed(probe, probe.submit(), history)
        ruler = Ruler(Random(f"rules/{self.site.seed}"))
        with at_work({self._person("ruler"): ruler.rule}):
            self._inject_faults(chance, probe, history)
            wait_until(lambda: _is_round_over(ruler) or self.site.book.wrong, "each rule", REST_SECONDS)
        lift_rules(self._person("last ruler"))
        # The scheduler has then read that the rules are lifted.
        self._placed(probe, probe.submit(), history)

    def _inject_faults(self, chance: Random, probe: Probe, history: LogHistory) -> None:
        for fault in itertools.islice(shuffled_rounds(chance, self._possible()), self.faults):
            time.sleep(chance.uniform(*QUIET_SECONDS))
            recovery = Recovery(fault.__name__, fault.__name__, time.monotonic() - self._began)
            self.timeline.append(recovery)
            struck = fault(self.site, chance)
            recovery.what = struck.what
            try:
                self._come_back(recovery, struck, probe, history)
            finally:
                print(recovery, flush=True)
            right([*history.check(), *self.site.book.wrong, *impossible_findings(self._person("auditor"))])

    def _possible(self) -> list[Fault]:
        return [fault for fault in FAULTS if fault is not fill_disk or self.site.disk is not None]

    def _come_back(self, recovery: Recovery, struck: Struck, probe: Probe, history: LogHistory) -> None:
        """Wait until the service has recovered, and measure how long it takes."""

        def ready() -> bool:
            alive = {pid for machine in self.site.machines for role in ROLES for pid in machine.pids(role)}
            running = alive | {self.site.first.postmaster}
            return running.isdisjoint(struck.gone) and self.site.is_ready() and all_decide(self.site)

        with ThreadPoolExecutor(1) as beside:
            asked = beside.submit(probe.submit)
            wait_until(ready, f"both machines to be ready after {struck.what}", BACK_SECONDS)
            recovery.ready_seconds = time.time() - struck.at
            placed = asked.result(BACK_SECONDS)
        recovery.allocation_seconds = self._placed(probe, placed, history) - struck.at

    def _placed(self, probe: Probe, one: SetOf, history: LogHistory) -> float:
        """Wait until the probe has its system, release it, and return the time of the grant."""
        (recipe_id,) = one.recipe_ids
        moment = wait_until(lambda: history.scheduled(recipe_id), "the probe to get its system", BACK_SECONDS)
        probe.cancel(one)
        return moment

    def _come_to_rest(self, history: LogHistory) -> None:
        """Wait, without faults and new jobs, until every recipe has ended or waits with a reason."""

        def at_rest() -> bool:
            right([*history.check(), *self.site.book.wrong])
            return not history.busy()

        try:
            wait_until(at_rest, "every recipe that has a system to end", REST_SECONDS)
        except AssertionError:
            print(*history.busy(), sep="\n")
            raise
        right(map(str, history.audit.at_rest()))

    def _seen_to(self, end: int) -> bool:
        right(self.site.book.wrong)
        return len(self.seen) >= end

    def figures(self) -> Iterator[str]:
        kinds: defaultdict[str, list[Recovery]] = defaultdict(list)
        for recovery in self.timeline:
            kinds[recovery.kind].append(recovery)
        yield f"{'fault':<22} times  ready: median   max  allocation: median   max"
        for kind, times in sorted(kinds.items()):
            ready = [one.ready_seconds for one in times if one.ready_seconds is not None]
            next_one = [one.allocation_seconds for one in times if one.allocation_seconds is not None]
            if ready and next_one:
                yield (
                    f"{kind:<22} {len(times):5}  {median(ready):13.2f} {max(ready):5.2f}"
                    f"  {median(next_one):18.2f} {max(next_one):5.2f}"
                )


ROLES = ("serve", "scheduler", "projector", "notifier", "worker")
PARTITIONS = 2
# Topics that occur only with contention and with the rules.
CONTENTION = ("recipe.locked", "partition.job-filter-put", "partition.configured", "partition.state-changed")


def _is_round_over(ruler: Ruler) -> bool:
    """Return whether each rule was put once."""
    return ruler.put_count >= len(RULES)


def right(wrong: Any) -> None:
    found = list(wrong)
    assert not found, "\n".join(found[:20])


def shown(seconds: float | None) -> str:
    return "never" if seconds is None else f"{seconds:.2f} s"
