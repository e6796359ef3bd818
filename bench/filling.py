"""A made-up lab and its queue put into the log as requests would have put them, many to a commit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from itertools import cycle, islice
from typing import Any

from api.client.lab_file import load
from bench.cluster_fixture import Stand
from bench.jobs import JobReader
from bench.progress import Told, nobody
from domain.access.policy import policy_form, policy_of
from domain.directory.events import LabControllerHeard, PoolAccessPolicyChanged
from domain.directory.state import Directory
from domain.distro_choice.distro_trees import DistroTrees
from domain.events import Change, Decided, Stamp
from domain.job.spec import JobSpec
from domain.job.submission import counts, submit
from domain.system.events import SystemAccessPolicyChanged
from domain.system_admin.registration import register
from store.requests import AppendRequest, new_command_id, require_committed

ACTOR = "admin"
SYSTEMS_AT_ONCE = 500
SETS_IN_A_JOB = 200
# Of a system or pool: what is no part of its document.
POLICY = "access_policy"


class Filling:
    """For one stand, whose API answers. `Directory` and trees are what a process that serves knows."""

    def __init__(self, stand: Stand, told: Told = nobody) -> None:
        self._stand = stand
        self._told = told
        self._directory = Directory()
        self._trees = DistroTrees(self._directory)
        self._position = 0
        self.reader = JobReader(self._directory, ACTOR)

    def lab(self, document: dict[str, Any]) -> None:
        """People, labs, pools, trees through the API; policies and the many systems straight into the log."""
        systems = document["systems"]
        pools = [
            {name: value for name, value in pool.items() if name != POLICY} for pool in document["pools"]
        ]
        with self._stand.client() as client:
            load(client, {**document, "pools": pools, "systems": []})
        self._policies(document["pools"])
        self._hear_labs()
        for number, some in enumerate(_batches(systems, SYSTEMS_AT_ONCE)):
            self.catch_up()
            self._append([decided for system in some for decided in _registered(system)])
            self._told("systems", min(len(systems), (number + 1) * SYSTEMS_AT_ONCE), len(systems))
        self.catch_up()

    def _policies(self, pools: Sequence[Mapping[str, Any]]) -> None:
        self.catch_up()
        changes: Decided = [
            (f"pool/{pool['name']}", PoolAccessPolicyChanged(entries=policy_form(policy_of(pool[POLICY]))))
            for pool in pools
            if POLICY in pool
        ]
        if changes:
            self._append(changes)

    def _hear_labs(self) -> None:
        """Append a contact of each lab controller: a lab that was never heard gets no recipes."""
        self.catch_up()
        labs = self._directory.items("lab-controller")
        heard: Decided = [
            (f"lab-controller/{name}", LabControllerHeard())
            for name, lab in labs
            if lab.document.get("silent")
        ]
        if heard:
            self._append(heard)

    def queue(self, sets: Iterator[dict[str, Any]], recipes: int) -> int:
        """Submit so many recipes at least; the position of the last event."""
        done = 0
        while done < recipes:
            done += self.submit(list(islice(sets, min(SETS_IN_A_JOB, recipes - done))))
            self._told("recipes", min(done, recipes), recipes)
        return self._stand.log.end()

    def submit(self, sets: Sequence[dict[str, Any]]) -> int:
        """A job of these recipe sets; how many recipes it has."""
        spec = self.job(sets)
        (ids,) = self._stand.log.take_ids([counts(spec)])
        owner = spec.owner or ACTOR
        chosen = [self._trees.choose(each, owner, spec.group) for each in spec.recipe_sets]
        trees = [tree for each in chosen for tree in each.tree_ids]
        self._append(submit(spec, ids, ACTOR, trees))
        return len(trees)

    def job(self, sets: Sequence[dict[str, Any]]) -> JobSpec:
        """One of these recipe sets, on behalf of one group after the other where pools tell groups apart."""
        spec, group = self.reader.job(sets), next(self._groups)
        if group is None:
            return spec
        return replace(spec, group=group, document={**spec.document, "group": group})

    @cached_property
    def _groups(self) -> Iterator[str | None]:
        ruled = any(POLICY in pool.document for _, pool in self._directory.items("pool"))
        return cycle([None, *(name for name, _ in self._directory.items("group") if ruled)])

    def _append(self, decided: Decided) -> None:
        stamp = Stamp(datetime.now(UTC), ACTOR, f"request/{new_command_id()}")
        expected = {subject: self._directory.version(subject) for subject, _ in decided}
        changes = tuple(Change(subject, event, stamp) for subject, event in decided)
        (outcome,) = self._stand.log.append([AppendRequest(new_command_id(), changes, expected)])
        require_committed(outcome)

    def catch_up(self) -> None:
        """What the log says of the directory."""
        end = self._stand.log.end()
        for recorded in self._stand.log.directory(end):
            if recorded.position > self._position:
                self._directory.apply(recorded)
                self._trees.apply(recorded)
        self._position = end


def _without_policy(document: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name != POLICY}


def _registered(system: Mapping[str, Any]) -> Decided:
    """With its own policy, if it has one."""
    decided = register(_without_policy(system))
    if POLICY in system:
        entries = policy_form(policy_of(system[POLICY]))
        changed = SystemAccessPolicyChanged(entries=entries, active_pool=None)
        decided.append((f"system/{system['fqdn']}", changed))
    return decided


def _batches(items: Sequence[Any], size: int) -> Iterable[Sequence[Any]]:
    return (items[first : first + size] for first in range(0, len(items), size))
