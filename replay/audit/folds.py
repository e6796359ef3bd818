"""Folds: state changes by topic and plain data; an inconsistent event changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from replay.audit.awaited_locks import count_passed_sets
from replay.audit.locks import readable
from replay.audit.record import EventRecord
from replay.audit.rights import submit_entries
from replay.audit.state import State
from replay.audit.tables import CLAIM_ENDED, CLAIMED, FINISHED, RECIPE_MOVES, USAGE_MOVES
from replay.audit.values import Distro, Recipe, RecipeSet, System, SystemClaim

Fold = Callable[[State, EventRecord], None]

# Recipes and sets


def _new(state: State, record: EventRecord) -> None:
    data = record.data
    wants = state.interned.own_requirements(data["host_requires"], _distro(data))
    submitter = state.interned.submitter(data.get("owner"), data.get("group"))
    host_id, locks = data.get("host_recipe_id"), readable(data.get("locks"))
    ids, partition = (int(record.name), data["recipe_set_id"], host_id), record.owning_partition
    state.put_recipe(Recipe(*ids, wants, submitter, locks, partition))


def _changed(state: State, record: EventRecord) -> None:
    recipe, data = state.recipes.get(int(record.name)), record.data
    if recipe is not None:
        wants = state.interned.own_requirements(data["host_requires"], _distro(data))
        state.put_recipe(recipe._replace(requirements=wants, locks=readable(data["locks"])))


def _distro(data: Mapping[str, Any]) -> Distro | None:
    tree_id, own = data.get("distro_tree_id"), data.get("distro")
    if tree_id is not None:
        return Distro(tree_id)
    return None if own is None else Distro(None, own["arch"], own["osmajor"], own.get("osminor") or "0")


def _recipe_state(state: State, record: EventRecord) -> None:
    recipe = state.recipes.get(int(record.name))
    if recipe is None:
        return
    happened, data = record.event_name, record.data
    if happened == "queued":
        state.put_recipe(recipe.with_state(happened, None, None))
        if data.get("preempted_by") is not None:
            _count_preemption(state, recipe)
    elif happened == "assigned":
        state.put_recipe(recipe.with_state(happened, None, data["lab_controller"]))
    elif happened == "scheduled":
        state.put_recipe(recipe.with_state(happened, data["system"], data["lab_controller"]))
        _count_overtaking(state, data.get("overtook"))
    elif happened == "waiting":
        held = readable(data.get("locks")) if record.gives_locks else None
        if held is not None:
            count_passed_sets(state, recipe)
        state.put_recipe(recipe.with_state(happened, recipe.system, recipe.lab, held))
    else:
        held = None if happened in FINISHED else recipe.held
        state.put_recipe(recipe.with_state(happened, recipe.system, recipe.lab, held))


def _count_preemption(state: State, recipe: Recipe) -> None:
    """Count a preempted set for its job, once with its first recipe."""
    recipe_set = state.sets.get(recipe.set_id)
    if recipe_set is not None and recipe.recipe_id == recipe_set.recipe_ids[0]:
        job_id = recipe_set.job_id
        state.put(state.preemptions, job_id, state.preemptions.get(job_id, 0) + 1)


def _locked(state: State, record: EventRecord) -> None:
    recipe = state.recipes.get(int(record.name))
    if recipe is not None and recipe.awaits_locks:
        count_passed_sets(state, recipe)
        state.put_recipe(recipe._replace(held=readable(record.data["locks"])))


def _narrowed(state: State, record: EventRecord) -> None:
    recipe = state.recipes.get(int(record.name))
    if recipe is not None and recipe.held is not None:
        state.put_recipe(recipe._replace(held=readable(record.data["locks"])))


def _claimed(state: State, record: EventRecord) -> None:
    recipe, data = state.recipes.get(int(record.name)), record.data
    if recipe is not None:
        claim = SystemClaim(data["system"], data["forced"], record.recorded_at)
        state.put(state.claims, claim.system, recipe.recipe_id)
        state.put_recipe(recipe._replace(claim=claim))


def _claim_ended(state: State, record: EventRecord) -> None:
    recipe = state.recipes.get(int(record.name))
    if recipe is not None and recipe.claim is not None:
        if state.claims.get(recipe.claim.system) == recipe.recipe_id:
            state.put(state.claims, recipe.claim.system, None)
        state.put_recipe(recipe._replace(claim=None))


def _count_overtaking(state: State, overtook: int | None) -> None:
    overtaken = None if overtook is None else state.recipes.get(overtook)
    if overtaken is not None:
        number = overtaken.set_id
        state.put(state.overtakings, number, state.overtakings.get(number, 0) + 1)


def _submitted(state: State, record: EventRecord) -> None:
    number, data = int(record.name), record.data
    place = record.position, tuple(data["recipe_ids"]), record.recorded_at
    job_id, depends_on = data["job_id"], tuple(data.get("depends_on", ()))
    facts = job_id, state.interned.submitted(data), depends_on
    recipe_set = RecipeSet(number, data["priority"], *place, *facts, record.owning_partition)
    if data.get("preemptible"):
        recipe_set = recipe_set._replace(preemptible=True)
    state.put(state.sets, number, recipe_set)
    state.put(state.sets_of_job, job_id, (*state.sets_of_job.get(job_id, ()), number))


def _set_changed(state: State, record: EventRecord) -> None:
    recipe_set, data = state.sets.get(int(record.name)), record.data
    if recipe_set is not None and recipe_set.submitted is not None:
        names = tuple(data["tasks"]), tuple(data["operations"])
        facts = recipe_set.submitted._replace(tasks=names[0], operations=names[1])
        state.put(state.sets, recipe_set.set_id, recipe_set._replace(submitted=facts))


def _open_job(*, is_open: bool) -> Fold:
    def fold(state: State, record: EventRecord) -> None:
        state.put(state.open_jobs, int(record.name), is_open)

    return fold


def _priority(state: State, record: EventRecord) -> None:
    recipe_set = state.sets.get(int(record.name))
    if recipe_set is not None:
        state.put(state.sets, recipe_set.set_id, recipe_set._replace(priority=record.data["priority"]))


# Systems


def _registered(state: State, record: EventRecord) -> None:
    data = record.data
    place = data["lab_controller"], data["owner"], data["condition"]
    state.put_system(System(record.name, *place, data["inventory"], record.position))


def _usage(state: State, record: EventRecord) -> None:
    system = state.systems.get(record.name)
    if system is not None:
        state.put(
            state.systems, record.name, system.with_usage(record.event_name, record.data.get("recipe_id"))
        )


def _system(after: Callable[[System], System]) -> Fold:
    def fold(state: State, record: EventRecord) -> None:
        system = state.systems.get(record.name)
        if system is not None:
            state.put(state.systems, record.name, after(system))

    return fold


def _described(change: Callable[[Mapping[str, Any]], dict[str, Any]]) -> Fold:
    def fold(state: State, record: EventRecord) -> None:
        system = state.systems.get(record.name)
        if system is not None:
            state.put_system(system._replace(**change(record.data), described=record.position))

    return fold


# Directory


def _tree(state: State, record: EventRecord) -> None:
    state.put(state.trees, int(record.name), None if record.event_name == "removed" else record.data)


def _lab(state: State, record: EventRecord) -> None:
    enabled = record.data["enabled"] if record.event_name == "registered" else record.event_name == "enabled"
    state.put(state.enabled, record.name, enabled)
    if record.event_name == "registered":
        # A name that is registered again is that of a lab which no configuration has named.
        state.put(state.lab_partitions, record.name, None)
        state.put(state.silent, record.name, record.data.get("silent") or None)


def _lab_moved(state: State, record: EventRecord) -> None:
    state.put(state.lab_partitions, record.name, record.data["partition"])


def _contact(state: State, record: EventRecord) -> None:
    state.put(state.silent, record.name, record.event_name == "silent" or None)


def _in_pool(state: State, record: EventRecord) -> None:
    fqdn = record.data["system"]
    others = [name for name in state.pools.get(fqdn, ()) if name != record.name]
    added = [record.name] if record.event_name == "system-added" else []
    state.put(state.pools, fqdn, (*others, *added))
    if fqdn in state.systems:
        state.put_system(state.systems[fqdn]._replace(described=record.position))


def _policy(state: State, record: EventRecord) -> None:
    """Set the policy of a pool; a removed pool has none."""
    is_removed = record.event_name == "removed"
    if is_removed and record.name not in state.policies:
        return
    state.put(state.policies, record.name, None if is_removed else submit_entries(record.data["entries"]))
    for fqdn, pools in state.pools.items():
        if record.name in pools and fqdn in state.systems:
            state.put_system(state.systems[fqdn])


def _group(state: State, record: EventRecord) -> None:
    """Set owners and members of a group. A person who returns is no longer a former member."""
    name, is_removed = record.name, record.event_name == "removed"
    people = frozenset[str](() if is_removed else (*record.data["owners"], *record.data["members"]))
    before = state.people.get(name, frozenset()) | state.former_people.get(name, frozenset())
    state.put(state.people, name, people or None)
    state.put(state.former_people, name, before - people or None)
    state.put(state.removed_groups, name, is_removed or None)


def _partition(state: State, record: EventRecord) -> None:
    """Note the number of a new partition, or drop a removed one with its rules."""
    number = state.partitions.get(record.name)
    if record.event_name == "removed" and number is not None:
        state.put(state.queue_trees, number, None)
        state.put(state.configurations, number, None)
        state.put(state.job_filters, number, None)
    state.put(state.partitions, record.name, record.data.get("number"))


def _configured(state: State, record: EventRecord) -> None:
    number = state.partition_number(record.name)
    if number is not None:
        configuration = record.data["configuration"]
        tree = state.queue_tree_of(number).configured(configuration.get("queues", {}))
        state.put(state.queue_trees, number, tree)
        state.put(state.configurations, number, configuration)


def _rule(state: State, record: EventRecord) -> None:
    number = state.partition_number(record.name)
    if number is None:
        return
    name, document = record.data["name"], record.data.get("document")
    others = {each: rule for each, rule in state.job_filters_of(number).items() if each != name}
    state.put(state.job_filters, number, others if document is None else {**others, name: document})


FOLDS: dict[str, Fold] = {
    "recipe.new": _new,
    **{f"recipe.{state}": _recipe_state for state in RECIPE_MOVES if state != "new"},
    "recipe.changed": _changed,
    "recipe.locked": _locked,
    "recipe.locks-narrowed": _narrowed,
    CLAIMED: _claimed,
    CLAIM_ENDED: _claim_ended,
    "job.opened": _open_job(is_open=True),
    "job.closed": _open_job(is_open=False),
    "recipe-set.submitted": _submitted,
    "recipe-set.priority-changed": _priority,
    "recipe-set.changed": _set_changed,
    "system.registered": _registered,
    **{f"system.{usage}": _usage for usage in USAGE_MOVES},
    "system.drained": _system(lambda system: system._replace(draining=True)),
    "system.undrained": _system(lambda system: system._replace(draining=False)),
    "system.occupied": _system(lambda system: system._replace(occupied=True)),
    "system.vacated": _system(lambda system: system._replace(occupied=False)),
    "system.condition-changed": _described(lambda data: {"condition": data["condition"]}),
    "system.inventory-changed": _described(lambda data: {"inventory": data["inventory"]}),
    "system.lab-controller-changed": _described(lambda data: {"lab": data["lab_controller"]}),
    "system.owner-changed": _described(lambda data: {"owner": data["owner"]}),
    "system.access-policy-changed": _described(lambda data: {"policy": submit_entries(data["entries"])}),
    "system.reservation-begun": _described(lambda data: {"user": data["user"]}),
    "system.reservation-ended": _described(lambda _: {"user": None}),
    "system.loaned": _described(lambda data: {"borrower": data["user"]}),
    "system.loan-ended": _described(lambda _: {"borrower": None}),
    **{f"distro-tree.{verb}": _tree for verb in ("registered", "changed", "removed")},
    **{f"lab-controller.{verb}": _lab for verb in ("registered", "enabled", "disabled")},
    **{f"lab-controller.{verb}": _contact for verb in ("silent", "heard")},
    **{f"pool.{verb}": _in_pool for verb in ("system-added", "system-removed")},
    **{f"pool.{verb}": _policy for verb in ("access-policy-changed", "removed")},
    **{f"group.{verb}": _group for verb in ("registered", "changed", "removed")},
    "lab-controller.partition-changed": _lab_moved,
    **{f"partition.{verb}": _partition for verb in ("created", "removed")},
    "partition.configured": _configured,
    "partition.job-filter-put": _rule,
    "partition.job-filter-removed": _rule,
}
"""Any other event changes nothing."""
