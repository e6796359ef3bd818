"""Writer of a generated lab and its queue to the log, with the events of requests, but in large commits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property, partial
from itertools import cycle, islice
from typing import Any, Final, TypeVar

from api.client.lab_file import load
from bench.cluster_fixture import BenchCluster
from bench.jobs import JobReader
from bench.outcome import ProgressCallback, no_progress
from domain.access.policy import policy_form, policy_of
from domain.batches import batches
from domain.directory.events import LabControllerEnabled, LabControllerHeard, PoolAccessPolicyChanged
from domain.directory.partitions import DEFAULT, existing_partition, number_of_lab
from domain.directory.state import Directory
from domain.distro_choice.distro_trees import DistroTrees
from domain.events import Change, Decided, Event, Stamp, split_subject
from domain.job.spec import JobSpec
from domain.job.submission import counts, submit
from domain.partition_numbers import EVERYBODY, OF_ONE_PARTITION
from domain.recipe.events import RecipeAborted, RecipeNew, TaskResult
from domain.system.events import SystemAccessPolicyChanged
from domain.system_admin.registration import register
from store.requests import AppendRequest, new_command_id, require_committed

ACTOR = "admin"
SYSTEMS_PER_COMMIT = 500
SETS_PER_COMMIT = 200
# Without queues, all sets of a commit are one job.
SETS_PER_JOB_IN_QUEUES = 5
# A field of systems and pools in lab files that is not part of their documents.
POLICY = "access_policy"
_NO_LABS: Final[Mapping[str, Sequence[str]]] = {}

T = TypeVar("T")


class LogFiller:
    """Writes a lab and jobs to the log of a cluster whose API answers. Mutable.

    The directory and the distro trees are folded as an API process folds them. The jobs are put into
    `queues` in turn.
    """

    def __init__(
        self,
        cluster: BenchCluster,
        on_progress: ProgressCallback = no_progress,
        queues: Iterable[str] = (),
    ) -> None:
        self._cluster = cluster
        self._on_progress = on_progress
        self._directory = Directory()
        self._trees = DistroTrees(self._directory)
        self._position = 0
        given = [*queues]
        self._queues: Iterator[str | None] = cycle(given or [None])
        self._sets_per_job = SETS_PER_JOB_IN_QUEUES if given else SETS_PER_COMMIT
        self.reader = JobReader(self._directory, ACTOR)

    def lab(self, document: dict[str, Any], partitions: Mapping[str, Sequence[str]] = _NO_LABS) -> None:
        """Add people, labs, pools and trees through the API, and policies and systems through the log.

        `partitions` have the labs of existing partitions other than `default`.
        """
        systems = document["systems"]
        pools = [
            {name: value for name, value in pool.items() if name != POLICY} for pool in document["pools"]
        ]
        with self._cluster.client() as client:
            load(client, {**document, "pools": pools, "systems": []})
            for name, labs in partitions.items():
                client.put(client.path("partitions", name, "configuration"), {"lab_controllers": [*labs]})
        self._policies(document["pools"])
        self._hear_labs()
        for number, some in enumerate(batches(systems, SYSTEMS_PER_COMMIT)):
            by_partition = self._by_partition(some, lambda system: system["lab_controller"])
            for partition, each in by_partition.items():
                # The systems before may have joined the same pools.
                self.catch_up()
                self._append([decided for system in each for decided in _registered(system)], partition)
            self._on_progress("systems", min(len(systems), (number + 1) * SYSTEMS_PER_COMMIT), len(systems))
        self.catch_up()

    def _policies(self, pools: Sequence[Mapping[str, Any]]) -> None:
        self.catch_up()
        changes: Decided = [
            (f"pool/{pool['name']}", PoolAccessPolicyChanged(entries=policy_form(policy_of(pool[POLICY]))))
            for pool in pools
            if POLICY in pool
        ]
        if changes:
            self._append(changes, EVERYBODY)

    def _hear_labs(self) -> None:
        """Mark each lab controller as heard, because a silent lab gets no recipes."""
        self.catch_up()
        labs = self._directory.items("lab-controller")
        silent = [name for name, lab in labs if lab.document.get("silent")]
        for partition, each in self._by_partition(silent, str).items():
            self._append([(f"lab-controller/{name}", LabControllerHeard()) for name in each], partition)

    def enable_labs(self) -> None:
        """Enable all labs, those of each partition in one commit."""
        self.catch_up()
        names = [name for name, _ in self._directory.items("lab-controller")]
        for partition, each in self._by_partition(names, str).items():
            self._append([(f"lab-controller/{name}", LabControllerEnabled()) for name in each], partition)

    def _by_partition(self, items: Iterable[T], lab_of: Callable[[T], str]) -> dict[int, list[T]]:
        """Return the items by the partitions of their labs."""
        divided: dict[int, list[T]] = defaultdict(list)
        for item in items:
            divided[number_of_lab(self._directory, lab_of(item))].append(item)
        return divided

    def queue(self, sets: Iterator[dict[str, Any]], recipes: int, partition: str = DEFAULT) -> int:
        """Submit at least this number of recipes, and return the position of the last event."""
        done = 0
        while done < recipes:
            done += self.submit(list(islice(sets, min(SETS_PER_COMMIT, recipes - done))), partition)
            self._on_progress("recipes", min(done, recipes), recipes)
        return self._cluster.log.end()

    def submit(self, sets: Sequence[dict[str, Any]], partition: str = DEFAULT, result_count: int = 0) -> int:
        """Submit sets in one commit, and return the number of their recipes.

        With a `result_count`, the first task of each recipe has this number of results; then the recipe is
        given up.
        """
        number = existing_partition(self._directory, partition).number
        specs = [self.job(some) for some in batches(sets, self._sets_per_job)]
        decided: Decided = []
        recipes = 0
        for spec, ids in zip(specs, self._cluster.log.take_ids(list(map(counts, specs))), strict=True):
            choose = partial(
                self._trees.choose, owner=spec.owner or ACTOR, group=spec.group, partition=number
            )
            trees = [tree for each in spec.recipe_sets for tree in choose(each).tree_ids]
            decided += submit(spec, ids, ACTOR, trees, queue=next(self._queues))
            recipes += len(trees)
        self._append([*decided, *_results(decided, result_count)], number)
        return recipes

    def job(self, sets: Sequence[dict[str, Any]]) -> JobSpec:
        """Return a job of these recipe sets, for each group in turn (or none) if pools have policies."""
        spec, group = self.reader.job(sets), next(self._groups)
        if group is None:
            return spec
        return replace(spec, group=group, document={**spec.document, "group": group})

    @cached_property
    def _groups(self) -> Iterator[str | None]:
        with_policies = any(POLICY in pool.document for _, pool in self._directory.items("pool"))
        return cycle([None, *(name for name, _ in self._directory.items("group") if with_policies)])

    def _append(self, decided: Decided, partition: int) -> None:
        """Append events of one partition; pools, which some systems join, are everybody's."""
        kinds = {split_subject(subject)[0] for subject, _ in decided}
        number = partition if kinds <= OF_ONE_PARTITION else EVERYBODY
        stamp = Stamp(datetime.now(UTC), ACTOR, f"request/{new_command_id()}")
        expected = {subject: self._directory.version(subject) for subject, _ in decided}
        changes = tuple(Change(subject, event, stamp) for subject, event in decided)
        (outcome,) = self._cluster.log.append(
            [AppendRequest(new_command_id(), changes, expected, partition=number)]
        )
        require_committed(outcome)

    def catch_up(self) -> None:
        end = self._cluster.log.end()
        for recorded in self._cluster.log.directory(end):
            if recorded.position > self._position:
                self._directory.apply(recorded)
                self._trees.apply(recorded)
        self._position = end


def _results(submitted: Decided, count: int) -> Iterator[tuple[str, Event]]:
    """Yield the results of all submitted recipes, every fourth one a failure, and their end."""
    for subject, event in submitted:
        if count and isinstance(event, RecipeNew):
            task_id = event.tasks[0]["task_id"]
            for number in range(count):
                yield subject, _result(task_id, number)
            yield subject, RecipeAborted(reason="given up by the benchmark")


def _result(task_id: int, number: int) -> TaskResult:
    path = f"/part/{number}"
    log = {"name": "dmesg.txt", "url": f"https://logs.example.com/{task_id}{path}/dmesg.txt"}
    return TaskResult(
        task_id=task_id,
        result="Pass" if number % 4 else "Fail",
        message=f"took {number} seconds longer than expected",
        score=float(number),
        log_urls=(),
        path=path,
        logs=({**log, "size_bytes": 4_096, "sha256": f"{task_id:032x}{number:032x}"},),
    )


def _without_policy(document: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name != POLICY}


def _registered(system: Mapping[str, Any]) -> Decided:
    decided = register(_without_policy(system))
    if POLICY in system:
        entries = policy_form(policy_of(system[POLICY]))
        changed = SystemAccessPolicyChanged(entries=entries, active_pool=None)
        decided.append((f"system/{system['fqdn']}", changed))
    return decided
