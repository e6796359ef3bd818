"""The stage of a race: systems and a recipe set of its own, which are gone when the next race begins."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import orjson

from api.use_cases.change_job import cancel_job
from api.use_cases.change_partition import configure_partition, remove_job_filter
from api.use_cases.change_policy import change_pool_policy
from api.use_cases.change_system import NewSystemValues, change_system
from api.use_cases.move_system import move_system
from api.use_cases.put_document import put_document
from api.use_cases.report_drafts import RecipeItem
from api.use_cases.report_progress import Answer, report_progress
from api.use_cases.submit_job import submit_job
from domain.admission.configuration import Configuration
from domain.admission.dependencies import Dependency
from domain.contention.documents import stored_locks
from domain.contention.locks import NO_LOCKS, Locks
from domain.directory import events as directory_events
from domain.directory.partitions import DEFAULT, partition_document
from domain.job.spec import RecipeSetSpec
from domain.priority import Priority
from domain.recipe.state import Recipe
from domain.recipe_set.messages import Report
from domain.system.state import System
from domain.system_admin.registration import register
from replay.audit.world import FoldedWorld
from tests.in_process.api_process import ApiProcess
from tests.in_process.environment import Environment, Instance
from tests.random_histories.jobs import job, named, recipe
from tests.random_histories.labs import POOLS, SOUGHT_AFTER, USERS, tree
from tests.random_histories.reporting import to_the_end as to_the_end_of

LABS = ("lab-1", "lab-2")
RULE = "stop"
AWAY = "away"


def furnish(scene: Instance) -> None:
    """Add labs, a tree and people for all rounds."""
    labs = [
        (f"lab-controller/{name}", directory_events.LabControllerRegistered(enabled=True)) for name in LABS
    ]
    trees = [("distro-tree/1", directory_events.DistroTreeRegistered(**tree(1, LABS)))]
    pools = [(f"pool/{name}", directory_events.PoolRegistered(owner_group=None)) for name in POOLS]
    people = [(f"user/{name}", directory_events.UserRegistered()) for name in USERS]
    scene.put([*labs, *trees, *pools, *people])


@contextmanager
def furnished_scene(environment: Environment) -> Iterator[Instance]:
    """Yield a furnished scene whose scheduler has begun. End the scheduler also after a failure."""
    with environment.scene() as scene:
        furnish(scene)
        scene.scheduler.begin()
        try:
            yield scene
        finally:
            # Otherwise the scheduler of the next scene would not get the lease.
            scene.scheduler.die()


class RaceStage:
    """The stage. `recipe_ids` are the recipes of the contested set, `fqdn` is its first system.

    `holder_id` is a recipe that holds the lock or the room of the stage, or on which the contested set
    depends; `other_holder_id` is another one.
    """

    def __init__(self, scene: Instance, number: int) -> None:
        self.scene = scene
        self.began_at = scene.log.end()
        self.names: list[str] = []
        self.job_ids: list[int] = []
        self.recipe_set_id = 0
        self.recipe_ids: list[int] = []
        self.holder_id = self.other_holder_id = self.set_id_of_holder = 0
        self._number = number

    @property
    def pool(self) -> str:
        return POOLS[0]

    @property
    def lock(self) -> Locks:
        """Return a lock that no other race has."""
        return stored_locks({"network": {"Exclusive": [f"vlan-{self._number}"]}})

    @property
    def fqdn(self) -> str:
        return self.names[0]

    @property
    def recipe_id(self) -> int:
        return self.recipe_ids[0]

    # Preparation

    def add_system(self, **more: str) -> str:
        fqdn = f"m{self._number}-{len(self.names)}"
        described = {**SOUGHT_AFTER, "type": "Machine", "pools": [], "fqdn": fqdn, **more}
        self.scene.put(register(described))
        self.names.append(fqdn)
        self.settle()
        return fqdn

    def submit(
        self,
        *wants: Any,
        group: str | None = None,
        locks: Locks = NO_LOCKS,
        depends_on: tuple[Dependency, ...] = (),
        process: ApiProcess | None = None,
        queue: str | None = None,
        preemptible: bool = False,
    ) -> None:
        """Submit a set with a recipe for each requirement, by default one for the first system; it stays
        new.
        """
        recipes = tuple(recipe(want, locks=locks) for want in wants or [named(self.fqdn)])
        recipe_set = RecipeSetSpec(Priority.Normal, recipes, depends_on, preemptible=preemptible)
        spec = replace(job([recipe_set]), group=group, queue=queue)
        done = (process or self.scene.api).ask(lambda services, request: submit_job(services, request, spec))
        ids = orjson.loads(done.answer or b"")
        self.job_ids.append(ids["job_id"])
        self.recipe_set_id = ids["recipe_set_ids"][0]
        self.recipe_ids = ids["recipe_ids"]

    def open_pool(self, entries: list[dict[str, Any]]) -> None:
        """Put the first system into the pool, and set the pool's policy."""
        process, fqdn, pool = self.scene.api, self.fqdn, self.pool
        process.ask(lambda services, request: change_pool_policy(services, request, pool, entries))
        process.ask(lambda services, request: move_system(services, request, pool, fqdn, member=True))
        self.settle()

    def put_group(self, process: ApiProcess, *members: str) -> Any:
        document = {"owners": [], "members": list(members)}
        return process.ask(lambda services, request: put_document(services, request, "group", "qa", document))

    def name_labs(self, process: ApiProcess, partition: str, *labs: str) -> Any:
        """Let the configuration of a partition name exactly these labs."""
        named = Configuration(lab_controllers=labs)
        return process.ask(lambda services, request: configure_partition(services, request, partition, named))

    def settle(self) -> None:
        self.scene.scheduler.settle()

    def report(self, process: ApiProcess, *reports: Report, recipe_id: int | None = None) -> list[Answer]:
        """Report on a recipe, by default the first one."""
        items = [RecipeItem(recipe_id or self.recipe_id, report) for report in reports]
        return process.ask(lambda services, request: report_progress(services, request, None, items))

    def run(self, *, to_the_end: bool) -> None:
        """Run the first recipe, which is waiting."""
        reports = to_the_end_of(self.recipe())
        self.report(self.scene.api, *(reports if to_the_end else reports[:-1]))

    # Results

    def recipe(self, place: int = 0) -> Recipe:
        return self._state(f"recipe/{self.recipe_ids[place]}")

    def system(self) -> System:
        return self._state(f"system/{self.fqdn}")

    def _state(self, subject: str) -> Any:
        return self.scene.api.services.aggregates.load([subject])[subject]

    def positions(self, subject: str, topic: str) -> list[int]:
        """Return the positions of a subject's events of a topic since the stage was set."""
        past = self.scene.log.load({subject: 0})[subject]
        found = (each.position for each in past if topic == each.event.TOPIC)
        return [position for position in found if position > self.began_at]

    def story(self, subject: str | None = None) -> list[str]:
        """Return the topics of a subject's events since the stage was set, by default of the first recipe."""
        wanted = subject or f"recipe/{self.recipe_id}"
        past = self.scene.log.load({wanted: 0})[wanted]
        return [each.event.TOPIC.partition(".")[2] for each in past if each.position > self.began_at]

    # Clean-up

    def _bring_labs_back(self) -> None:
        """Let `default` name the labs that the other partition has dropped, and then none again."""
        if self.scene.api.services.feed.directory.get("partition", AWAY) is not None:
            self.name_labs(self.scene.api, AWAY)
            self.name_labs(self.scene.api, DEFAULT, *LABS)
            self.name_labs(self.scene.api, DEFAULT)

    def clear(self) -> FoldedWorld:
        """Remove the rules, cancel everything and remove the systems; return the world that is left."""
        self.name_labs(self.scene.api, DEFAULT)
        if partition_document(self.scene.api.services.feed.directory).get("job_filters"):
            self.scene.api.ask(lambda services, request: remove_job_filter(services, request, DEFAULT, RULE))
        for job_id in self.job_ids:
            self.scene.api.ask(
                lambda services, request, job_id=job_id: cancel_job(services, request, job_id, "over")
            )
        removed = NewSystemValues(condition="Removed", reason="over")
        for fqdn in self.names:
            self.scene.api.ask(
                lambda services, request, fqdn=fqdn: change_system(
                    services, request, fqdn, removed, lambda _: None
                )
            )
        self._bring_labs_back()
        self.settle()
        return self.scene.watched.look()
