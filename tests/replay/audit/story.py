"""Logs written by hand for the tests of the audit, commit by commit, with the real events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from domain.directory import events as directory_events
from domain.events import Basis, Batch, Recorded, Stamp
from domain.partition_numbers import DEFAULT_NUMBER, EVERYBODY, partition_of
from domain.recipe import events as recipe_events
from domain.recipe_set.events import RecipeSetPriorityChanged, RecipeSetSubmitted
from domain.scheduling.decisions.decide import POLICY_VERSION
from domain.system import events as system_events
from replay.audit import Violation, at_rest, check, from_recorded
from tests.replay.audit.moves import LAB, Pair, idle, new, pending, queued, step

AT = datetime(2024, 1, 1, tzinfo=UTC)


class Story:
    """A log under construction. Mutable.

    Positions have gaps, as in the real log. `now` is the time of the processes, `recorded_at` that of the
    database. What concerns one partition belongs to `partition`, whose scheduler decides.
    """

    def __init__(self) -> None:
        self.log: list[Recorded] = []
        self.now = self.recorded_at = AT
        self.partition = DEFAULT_NUMBER
        self._versions: dict[str, int] = {}

    @property
    def end(self) -> int:
        return self.log[-1].position if self.log else 0

    def commit(self, *pairs: Pair, stamps: Iterable[Stamp] = (), partition: int | None = None) -> None:
        all_stamps = list(stamps) or [Stamp(self.now, "ada", "request/1")] * len(pairs)
        first = self.end + 1 + len(self.log) % 2
        if partition is None:
            partition = partition_of(subject for subject, _ in pairs) and self.partition
        for offset, ((subject, event), stamp) in enumerate(zip(pairs, all_stamps, strict=True)):
            version = self._versions[subject] = self._versions.get(subject, 0) + 1
            end = first + len(pairs) - 1
            at = self.recorded_at
            self.log.append(Recorded(first + offset, end, at, subject, version, event, stamp, partition))

    def decide(
        self,
        *decisions: list[Pair],
        basis: int | None = None,
        cause: str | None = None,
        epoch: int = 1,
        policy: int = 4,
        batch: Batch | None = None,
    ) -> None:
        """Append one commit of numbered decisions by a scheduler that has read the whole log."""
        position = self.end if basis is None else basis
        full_basis = Basis(position, self.now, epoch, policy, batch, self.partition)
        why = cause or f"event/{full_basis.position}"
        stamps = [
            Stamp(self.now, "scheduler", why, full_basis, number)
            for number, decision in enumerate(decisions)
            for _ in decision
        ]
        self.commit(*(pair for decision in decisions for pair in decision), stamps=stamps)

    def batch(self, *decisions: list[Pair], policy: int = POLICY_VERSION, **beside: Any) -> None:
        """Append decisions on all triggers up to the end of the log; `beside` as in `decide`."""
        self.decide(*decisions, policy=policy, batch=Batch(self.end, self.end, None), **beside)

    # Partitions

    def create_partition(self, number: int, name: str) -> None:
        self.commit((f"partition/{name}", directory_events.PartitionCreated(number)))

    def move_lab(self, lab: str, number: int, *systems: str) -> None:
        """Let a lab with these systems leave its partition for that of a number; 0 stands for none."""
        moved = directory_events.LabControllerPartitionChanged(number, systems)
        self.commit((f"lab-controller/{lab}", moved), partition=EVERYBODY)

    # Labs and systems

    def labs(self, *names: str) -> None:
        for name in names:
            self.commit((f"lab-controller/{name}", directory_events.LabControllerRegistered(enabled=True)))

    def tree(self, number: int, *labs: str) -> None:
        urls = {lab: [f"http://{lab}/"] for lab in labs}
        registered = directory_events.DistroTreeRegistered(
            "tree", "Fedora", "40", "x86_64", "Server", (), urls, "2024-01-01T00:00:00Z"
        )
        self.commit((f"distro-tree/{number}", registered))

    def system(self, fqdn: str, lab: str = LAB, condition: str = "Automated", **inventory: Any) -> None:
        plain = {"type": "Machine", "arches": ["x86_64"], **inventory}
        pairs = [(f"system/{fqdn}", system_events.SystemRegistered(lab, "ada", condition, plain))]
        self.commit(*pairs, *([pending(fqdn)] if condition == "Automated" else []))

    def idle(self, *names: str, lab: str = LAB) -> None:
        """Add systems that no recipe wants."""
        for fqdn in names:
            self.system(fqdn, lab)
        self.decide(*([idle(fqdn)] for fqdn in names))

    # Jobs

    def job(
        self,
        set_id: int,
        wants: Mapping[int, Mapping[str, Any]],
        priority: str = "Normal",
        guests: Mapping[int, int] | None = None,
        trees: Mapping[int, int] | None = None,
        locks: Mapping[str, Any] = {},
        locks_of: Mapping[int, Mapping[str, Any]] | None = None,
        profile: Mapping[str, Any] | None = None,
        submitted: Mapping[str, Any] = {},
        **whose: str | None,
    ) -> None:
        """Submit a set of recipes with their requirements; `guests` maps guests to hosts, `trees` recipes to
        trees.

        Each recipe declares `locks`, unless `locks_of` has others for it. They are also the profile of the
        set, unless `profile` is given.

        `submitted` are further fields of the event of the set.

        `whose` holds the owner and the group, unless the job is ada's without a group.
        """
        hosts = {number: number for number in wants} | dict(guests or {})
        members = sorted(hosts)
        fields = {"job_id": set_id, "profile": locks if profile is None else profile, **submitted}
        event = RecipeSetSubmitted(priority=priority, recipe_ids=members, **fields)
        pairs: list[Pair] = [(f"recipe-set/{set_id}", event)]
        for number in members:
            form = wants.get(number, {"and": []})
            host = hosts[number] if hosts[number] != number else None
            tree_id = (trees or {}).get(number, 1)
            own_locks = (locks_of or {}).get(number, locks)
            beside = {"host_recipe_id": host, "distro_tree_id": tree_id, "locks": own_locks, **whose}
            pairs.append((f"recipe/{number}", new(set_id, number, form, priority, **beside)))
        self.commit(*pairs)

    def queue(
        self,
        set_id: int,
        wants: Mapping[int, Mapping[str, Any]],
        priority: str = "Normal",
        **beside: Any,
    ) -> None:
        """Submit a job that gets no system; `beside` as in `job`."""
        self.job(set_id, wants, priority, **beside)
        self.decide([queued(number) for number in wants])

    def priority(self, set_id: int, priority: str) -> None:
        self.commit((f"recipe-set/{set_id}", RecipeSetPriorityChanged(priority)))

    def progress(self, number: int, fqdn: str, *states: str) -> None:
        """Move a recipe and its system together, one commit for each state."""
        for state in states:
            self.commit(*step(number, fqdn, state))

    def complete(self, number: int, fqdn: str) -> None:
        self.progress(number, fqdn, "installing", "running")
        self.commit((f"recipe/{number}", recipe_events.RecipeCompleted()), pending(fqdn))

    # Checks

    def violations(self) -> list[Violation]:
        return check(from_recorded(self.log))

    def at_rest(self) -> list[Violation]:
        return at_rest(from_recorded(self.log))
