"""Actions of people, labs and the scheduler on a log in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

import orjson

from domain.access.policy import Form
from domain.admission.configuration import stored_configuration
from domain.admission.job_filters import stored_job_filter
from domain.contention.algebra import merge
from domain.contention.documents import locks_to_json, stored_locks
from domain.contention.own_names import unplaced
from domain.directory import events as directory_events
from domain.directory import partition_states
from domain.directory.partitions import (
    PARTITION,
    configure,
    partition_document,
    put_job_filter,
    remove_job_filter,
)
from domain.events import Decided
from domain.job.recipe_changes import change_recipes
from domain.priority import Priority
from domain.recipe.events import RecipeChanged, RecipeNew
from domain.recipe.lifecycle import FINISHED
from domain.recipe.state import Recipe
from domain.recipe_set.ending import cancel_set
from domain.recipe_set.events import RecipeSetChanged, RecipeSetSubmitted
from domain.recipe_set.members import Members
from domain.recipe_set.messages import (
    Report,
    ReportAborted,
    ReportCompleted,
    ReportInstalling,
    ReportLocks,
    ReportTaskEnded,
    ReportTaskRunning,
)
from domain.recipe_set.reports import report
from domain.recipe_set.state import change_priority
from domain.scheduling.decisions.decide import decide
from domain.scheduling.decisions.draft import Decision
from domain.scheduling.decisions.timers import Findings, LoopInput, correct
from domain.scheduling.supply.filter_key import filter_key
from domain.scheduling.supply.rules import fitting
from domain.scheduling.world.snapshot import pieces, restored
from domain.system.events import SystemAccessPolicyChanged, SystemLoaned, SystemLoanEnded
from domain.system.state import Occupation
from domain.system_admin.condition import change_condition
from domain.system_admin.draining import drain, undrain
from domain.system_admin.inventory import change_inventory, change_owner, move_to_lab
from domain.system_admin.occupation import occupy, vacate
from domain.system_admin.registration import register
from domain.system_admin.reservation import end as end_reservation
from domain.system_admin.reservation import reserve
from tests.domain.recipe.samples import recipe_new
from tests.domain.scheduling.folded_log import FoldedLog

VIEWED: Form = {"permission": "view", "everybody": True}


class World(FoldedLog):
    """A lab with its log. Mutable; every change goes through `commit`, as in the real log."""

    # People and labs

    def add_lab(self, name: str, enabled: bool = True) -> None:
        self.commit([(f"lab-controller/{name}", directory_events.LabControllerRegistered(enabled=enabled))])

    def enable(self, name: str, enabled: bool) -> None:
        event = (
            directory_events.LabControllerEnabled() if enabled else directory_events.LabControllerDisabled()
        )
        self.commit([(f"lab-controller/{name}", event)])

    def fall_silent(self, name: str) -> None:
        self.commit([(f"lab-controller/{name}", directory_events.LabControllerSilent())])

    def hear(self, name: str) -> None:
        self.commit([(f"lab-controller/{name}", directory_events.LabControllerHeard())])

    def move_lab(self, name: str, number: int) -> None:
        """Let a lab leave its partition for that of a number; 0 stands for none."""
        systems = tuple(fqdn for fqdn, system in self.systems.items() if system.lab_controller == name)
        event = directory_events.LabControllerPartitionChanged(partition=number, systems=systems)
        self.commit([(f"lab-controller/{name}", event)])

    def configure(self, **sections: Any) -> None:
        """Put a configuration of the partition with these sections; others have their defaults."""
        events = configure(partition_document(self.directory), stored_configuration(sections))
        self.commit([(PARTITION, event) for event in events])

    def move_partition(self, move: str) -> None:
        """Start, drain or stop the partition."""
        events = partition_states.move(partition_document(self.directory), move)
        self.change([(PARTITION, event) for event in events])

    def put_job_filter(self, name: str, action: str, watermark: int = 0, **document: Any) -> None:
        job_filter = stored_job_filter(name, {"action": action, "watermark": watermark, **document})
        events = put_job_filter(partition_document(self.directory), job_filter)
        self.commit([(PARTITION, event) for event in events])

    def remove_job_filter(self, name: str) -> None:
        events = remove_job_filter(partition_document(self.directory), name)
        self.commit([(PARTITION, event) for event in events])

    def put_tree(self, tree_id: int, arch: str, labs: Iterable[str], family: str = "Fedora") -> None:
        entry = self.directory.get("distro-tree", str(tree_id))
        cls = directory_events.DistroTreeChanged if entry else directory_events.DistroTreeRegistered
        tree = cls(
            name=f"tree-{tree_id}",
            family=family,
            version="40",
            arch=arch,
            variant="Server",
            tags=[],
            urls={lab: [f"http://{lab}/"] for lab in labs},
            added_at="2024-01-01T00:00:00Z",
        )
        self.commit([(f"distro-tree/{tree_id}", tree)])

    def add_system(
        self,
        fqdn: str,
        lab: str = "lab-1",
        condition: str = "Automated",
        pools: Iterable[str] = (),
        **inventory: Any,
    ) -> None:
        described = {"type": "Machine", "arches": ["x86_64"], "memory_mb": 4096, **inventory}
        beside = {"fqdn": fqdn, "lab_controller": lab, "owner": "ada", "condition": condition}
        self.commit(register({**described, **beside, "pools": list(pools)}))

    def add_idle(self, *names: str) -> None:
        for fqdn in names:
            self.add_system(fqdn)
        self.settle()

    def set_pool(self, pool: str, fqdn: str, member: bool) -> None:
        cls = directory_events.PoolSystemAdded if member else directory_events.PoolSystemRemoved
        self.commit([(f"pool/{pool}", cls(system=fqdn))])

    def submit(
        self, host_requires: str, tree_id: int | None = 1, priority: str = "Normal", **new: Any
    ) -> int:
        """Submit a job with one recipe set, one recipe and one task; return the recipe's id."""
        (recipe_id,) = self.submit_set([host_requires], tree_id, priority, **new)
        return recipe_id

    def submit_set(
        self,
        hosts: Sequence[str],
        tree_id: int | None = 1,
        priority: str = "Normal",
        guests: Mapping[int, Sequence[int]] = {},
        locks_of: Sequence[Mapping[str, Any]] = (),
        submitted: Mapping[str, Any] = {},
        **new: Any,
    ) -> tuple[int, ...]:
        """Submit a job with one recipe set; return the ids of its hosts.

        `hosts` are the host requirements; `guests` the distro trees of guests, by the index of their host;
        `locks_of` the locks of each host. `submitted` are fields of the event of the set, `new` fields of
        those of the recipes.
        """
        number, first = len(self.sets) + 1, len(self.recipes) + 1
        rows: list[tuple[int, RecipeNew]] = []
        for place, host_requires in enumerate(hosts):
            host_id = first + len(rows)
            fields = {"recipe_set_id": number, "job_id": number, "host_requires": host_requires, **new}
            if locks_of:
                fields["locks"] = locks_of[place]
            rows.append((host_id, recipe_new(host_id, priority, distro_tree_id=tree_id, **fields)))
            for guest_tree in guests.get(place, ()):
                guest_id = first + len(rows)
                fields |= {
                    "host_recipe_id": host_id,
                    "guestname": f"guest-{guest_id}",
                    "guestargs": "--ram=1",
                    "locks": {},
                }
                rows.append((guest_id, recipe_new(guest_id, priority, distro_tree_id=guest_tree, **fields)))
        ids = tuple(recipe_id for recipe_id, _ in rows)
        declared = [unplaced(stored_locks(new.locks)) for _, new in rows if new.locks]
        profile = locks_to_json(merge(*declared)) if declared else {}
        common = {name: getattr(rows[0][1], name) for name in ("job_id", "owner", "group")}
        event = RecipeSetSubmitted(
            priority=priority, recipe_ids=ids, profile=profile, **{**common, **submitted}
        )
        decided: Decided = [(f"recipe-set/{number}", event)]
        self.commit(decided + [(f"recipe/{recipe_id}", new) for recipe_id, new in rows])
        return tuple(recipe_id for recipe_id, new in rows if new.host_recipe_id is None)

    def members(self, recipe_id: int) -> Members:
        """Return the set of a recipe, as the HTTP API would load it."""
        recipe_set = self.sets[self.recipes[recipe_id].recipe_set_id]
        recipes = tuple(self.recipes[member] for member in recipe_set.recipe_ids)
        return Members(recipes, {r.system: self.systems[r.system] for r in recipes if r.system})

    def report(self, recipe_id: int, message: Report) -> None:
        recipe = self.recipes[recipe_id]
        broken_after = self.directory.broken_after(recipe.lab_controller)
        self.change(report(self.members(recipe_id), recipe, message, broken_after, recipe.attempt))

    def complete(self, recipe_id: int) -> None:
        """Report the progress of a successful recipe to its end."""
        self.report(recipe_id, ReportInstalling())
        for task in self.recipes[recipe_id].tasks:
            self.report(recipe_id, ReportTaskRunning(task.task_id))
            self.report(recipe_id, ReportTaskEnded(task.task_id, "completed"))
        self.report(recipe_id, ReportCompleted())

    def narrow(self, recipe_id: int, locks: Mapping[str, Any]) -> None:
        self.report(recipe_id, ReportLocks(stored_locks(locks)))

    def abort(self, recipe_id: int) -> None:
        self.report(recipe_id, ReportAborted("no power"))

    def cancel(self, recipe_id: int) -> None:
        """Cancel the whole set of the recipe."""
        self.change(cancel_set(self.members(recipe_id), "not needed"))

    def change_priority(self, recipe_id: int, priority: str) -> None:
        recipe_set = self.sets[self.recipes[recipe_id].recipe_set_id]
        self.change(change_priority(recipe_set, self.members(recipe_id), Priority[priority]))

    def change_recipe(self, recipe_id: int, **fields: Any) -> None:
        """Change fields of a recipe as a person does; no system is taken from it."""
        recipe = self.recipes[recipe_id]
        tasks = [{"task_id": 1_000 + self.position, "name": "/other", "params": {}}]
        plain = {
            "host_requires": recipe.host_requires,
            "distro_requires": "",
            "distro_tree_id": recipe.distro_tree_id,
            "distro": recipe.distro,
            "tasks": tasks,
            "locks": locks_to_json(recipe.locks),
        }
        changed = RecipeChanged(**{**plain, **fields})
        members = self.members(recipe_id)
        present = {each.recipe_id: each.locks for each in members.recipes}
        present[recipe_id] = stored_locks(changed.locks)
        profile = locks_to_json(merge(*map(unplaced, present.values())))
        of_set = RecipeSetChanged(("/other",), (), profile, {})
        recipe_set = self.sets[recipe.recipe_set_id]
        self.change(change_recipes(recipe_set, members, {recipe_id: changed}, of_set, self._misfit))

    def _misfit(self, host: Recipe, guests: Sequence[Recipe]) -> str | None:
        assert host.system is not None
        key = filter_key(host, guests)
        number = self.partition.labs.number(host.system)
        return None if fitting(self.partition.labs, key) >> number & 1 else "it does not match"

    def set_condition(self, fqdn: str, condition: str) -> None:
        system = self.systems[fqdn]
        members = None if system.recipe_id is None else self.members(system.recipe_id)
        self.change(change_condition(system, members, condition, "as the test says"))

    def drain(self, fqdn: str) -> None:
        self.change(drain(self.systems[fqdn], "as the test says"))

    def undrain(self, fqdn: str) -> None:
        self.change(undrain(self.systems[fqdn]))

    def add_window(
        self, starts_after_seconds: int = 0, for_seconds: int = 3_600, lead_seconds: int = 0, **covered: Any
    ) -> int:
        """Add a maintenance window of an admin, and return its number."""
        if self.directory.get("user", "ada") is None:
            self.commit([("user/ada", directory_events.UserRegistered(roles=("admin",)))])
        number = 1 + sum(1 for _ in self.directory.items("maintenance-window"))
        starts_at = self.now + timedelta(seconds=starts_after_seconds)
        nothing = {"systems": None, "pool": None, "lab_controller": None, "location": None}
        beside = {"added_by": "ada", "added_at": self.now.isoformat(), "has_all_rights": True}
        added = directory_events.MaintenanceWindowAdded(
            reason="new disks",
            starts_at=starts_at.isoformat(),
            ends_at=(starts_at + timedelta(seconds=for_seconds)).isoformat(),
            lead_seconds=lead_seconds,
            **{**nothing, **beside, **covered},
        )
        self.commit([(f"maintenance-window/{number}", added)])
        return number

    def end_window(self, number: int) -> None:
        ended = directory_events.MaintenanceWindowEnded(ended_at=self.now.isoformat(), reason="done")
        self.commit([(f"maintenance-window/{number}", ended)])

    def tell_running(self, fqdn: str, recipe_id: int | None = None) -> None:
        """Make the system occupied, as its lab controller says that something runs there."""
        system = self.systems[fqdn]
        members = None if system.recipe_id is None else self.members(system.recipe_id)
        self.change(occupy(system, members, Occupation("as the test says", recipe_id, None)))

    def tell_vacant(self, fqdn: str) -> None:
        self.change(vacate(self.systems[fqdn], "as the test says"))

    def reserve(
        self, fqdn: str, user: str = "ada", until: str | None = None, tree: int | None = None
    ) -> None:
        self.change(reserve(self.systems[fqdn], user, until, tree))

    def give_back(self, fqdn: str) -> None:
        self.change(end_reservation(self.systems[fqdn], "returned"))

    def describe(self, fqdn: str, **inventory: Any) -> None:
        self.change(change_inventory(self.systems[fqdn], inventory))

    def move(self, fqdn: str, lab: str) -> None:
        self.change(move_to_lab(self.systems[fqdn], lab))

    def own(self, fqdn: str, owner: str) -> None:
        self.change(change_owner(self.systems[fqdn], owner))

    def put_group(self, name: str, *members: str) -> None:
        entry = self.directory.get("group", name)
        cls = directory_events.GroupChanged if entry else directory_events.GroupRegistered
        self.commit([(f"group/{name}", cls(owners=[], members=members))])

    def remove_group(self, name: str) -> None:
        self.commit([(f"group/{name}", directory_events.GroupRemoved())])

    def open_pool(self, pool: str, *entries: Form) -> None:
        """Allow only these to submit."""
        self.commit([(f"pool/{pool}", directory_events.PoolAccessPolicyChanged(entries=entries))])

    def open_system(self, fqdn: str, *entries: Form) -> None:
        """Allow only these to submit; everybody may view the system."""
        self.hide_system(fqdn, VIEWED, *entries)

    def register_user(self, name: str) -> None:
        self.commit([(f"user/{name}", directory_events.UserRegistered())])

    def hide_system(self, fqdn: str, *entries: Form) -> None:
        """Hide the system from all but these."""
        changed = SystemAccessPolicyChanged(entries=entries, active_pool=None)
        self.commit([(f"system/{fqdn}", changed)])

    def lend(self, fqdn: str, user: str, until: str | None = None) -> None:
        self.commit([(f"system/{fqdn}", SystemLoaned(user=user, until=until))])

    def end_loan(self, fqdn: str) -> None:
        self.commit([(f"system/{fqdn}", SystemLoanEnded(reason="given back"))])

    def remove_tree(self, tree_id: int) -> None:
        self.commit([(f"distro-tree/{tree_id}", directory_events.DistroTreeRemoved())])

    def change(self, decided: Decided) -> None:
        if decided:
            self.commit(decided)

    # The scheduler

    def decide(self, limit: int = 1) -> list[Decision]:
        """Return up to `limit` decisions (or those of one trigger) and roll them back."""
        decisions = decide(self.partition, limit)
        self.partition.rollback()
        return decisions

    def in_conflict(self, decisions: Iterable[Decision]) -> bool:
        """Return whether the log would refuse decisions, which depend on versions that have changed."""
        # A later decision expects the versions that an earlier one leads to.
        expected = dict(each for one in reversed([*decisions]) for each in one.expected)
        return any(self.version(subject) != version for subject, version in expected.items())

    def restart(self) -> None:
        """Replace the scheduler by one that starts from a snapshot."""
        self.partition = restored(orjson.loads(orjson.dumps(piece)) for piece in pieces(self.partition))

    def settle(self, limit: int = 500) -> list[Decision]:
        """Decide and commit until nothing is left to decide."""
        answers: list[Decision] = []
        while decisions := decide(self.partition, limit, self.now):
            self.commit_decisions(decisions, self.partition.position)
            answers += decisions
        return answers

    def maintain(self) -> None:
        """Run the consistency loop, which begins and ends maintenance windows, and finds no fault."""
        findings = Findings()
        if decisions := correct(self.partition, LoopInput(self.now, {}), findings):
            self.commit_decisions(decisions, self.partition.position)
        assert not findings.never_happen, findings

    # Questions

    def states(self, *recipe_ids: int) -> list[str]:
        """Return the states of these recipes, or of all."""
        return [self.recipes[recipe_id].state for recipe_id in recipe_ids or self.recipes]

    def system_of(self, recipe_id: int) -> str | None:
        return self.recipes[recipe_id].system

    def in_state(self, *states: str) -> list[Recipe]:
        return [recipe for recipe in self.recipes.values() if recipe.state in states]

    def placed(self) -> list[Recipe]:
        return [r for r in self.recipes.values() if r.system is not None and r.state not in FINISHED]
