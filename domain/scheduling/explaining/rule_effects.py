"""The unfinished recipe sets that new rules of admission would hold back or free if the rules were put."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from domain.admission.configuration import Configuration, LimitSection, configuration_to_json
from domain.admission.dependencies import Effect
from domain.admission.job_filters import JobFilter, JobFilters
from domain.admission.predicates import matcher
from domain.directory.documents import document_after
from domain.directory.events import PartitionConfigured
from domain.directory.partition_queues import queue_tree_of
from domain.queues.tree import QueueTree
from domain.recipe_set.state import RecipeSet
from domain.scheduling.admitting.admission import HeldBack
from domain.scheduling.admitting.room_limits import Needs
from domain.scheduling.admitting.rooms import Rooms
from domain.scheduling.supply.reasons import NO_ROOM
from domain.scheduling.world.partition import Partition

ROOM: Final = "room"


@dataclass(frozen=True)
class RuleEffect:
    """A set that the tested job filter matches, or whose admission the rules change.

    `applying` is the job filter that would apply to the set. `before` and `after` say why the set is held
    back now, and by the new rules; room is judged for each set alone. No rule touches a `placed` set, which
    holds systems or has started.
    """

    recipe_set: RecipeSet
    matches: bool
    applying: str | None
    placed: bool
    before: HeldBack | None
    after: HeldBack | None

    @property
    def is_freed(self) -> bool:
        return self.before is not None and self.after is None

    @property
    def is_held_back(self) -> bool:
        """Return whether the set would be held back, or ended, and is not now."""
        return self.after is not None and effect_of(self.after) != effect_of(self.before)


def effect_of(held: HeldBack | None) -> Effect:
    return Effect.PROCEED if held is None else held.effect


class _Rules(NamedTuple):
    job_filters: JobFilters
    limits: LimitSection
    tree: QueueTree


def job_filter_effects(partition: Partition, rule: JobFilter) -> list[RuleEffect]:
    """Return the effects of a job filter in place of the present one of its name, in order of submission.

    A filter with the content of the present one has its watermark, too.
    """
    present = _present(partition)
    old = next((each for each in present.job_filters.ordered if each.name == rule.name), None)
    if old is not None and replace(rule, watermark=old.watermark) == old:
        rule = old
    others = (each for each in present.job_filters.ordered if each.name != rule.name)
    return _effects(partition, present._replace(job_filters=JobFilters([*others, rule])), rule)


def configuration_effects(partition: Partition, configuration: Configuration) -> list[RuleEffect]:
    """Return the effects of a configuration in place of the present one, in order of submission."""
    event = PartitionConfigured(configuration_to_json(configuration))
    tree = queue_tree_of(configuration, document_after(partition.document, event))
    return _effects(partition, _present(partition)._replace(limits=configuration.limits, tree=tree))


def _present(partition: Partition) -> _Rules:
    admission = partition.sets.admission
    return _Rules(admission.job_filters, partition.configuration.limits, admission.tree)


def _effects(partition: Partition, rules: _Rules, tested: JobFilter | None = None) -> list[RuleEffect]:
    sets = partition.sets
    placed = frozenset(number for number, each in sets.sets.items() if not sets.holds_nothing(each))
    before = _held_back(partition, _present(partition), placed)
    after = _held_back(partition, rules, placed)
    matches = None if tested is None else matcher(tested.predicate, tested.watermark)
    found: list[RuleEffect] = []
    for recipe_set in sorted(sets.sets.values(), key=lambda each: each.submission):
        number, facts = recipe_set.recipe_set_id, recipe_set.facts
        is_matched = matches is not None and matches(facts)
        now, then = before.get(number), after.get(number)
        if is_matched or effect_of(now) != effect_of(then):
            applying = rules.job_filters.applying(facts)
            name = None if applying is None else applying.name
            found.append(RuleEffect(recipe_set, is_matched, name, number in placed, now, then))
    return found


def _held_back(partition: Partition, rules: _Rules, placed: frozenset[int]) -> dict[int, HeldBack]:
    """Return why rules, which are applied tentatively, hold back sets that hold nothing."""
    admission, present = partition.sets.admission, _present(partition)
    rooms = Rooms()
    rooms.configure(rules.limits, rules.tree)
    sets, host_counts = partition.sets.sets, partition.sets.host_counts
    for number in sorted(placed):
        applying = rules.job_filters.applying(sets[number].facts)
        needs = rooms.needs(sets[number], host_counts[number], applying)
        rooms.charge(number, needs.of_set)
        rooms.charge_job(sets[number].job_id, needs.of_job)
    found: dict[int, HeldBack] = {}
    try:
        admission.put_job_filters(rules.job_filters)
        admission.put_queues(rules.tree)
        for number, recipe_set in sets.items():
            if number not in placed:
                applying = admission.applying(recipe_set)
                needs = rooms.needs(recipe_set, host_counts[number], applying)
                of_job = () if recipe_set.job_id in rooms.charged_jobs else needs.of_job
                held = admission.why_held_back(recipe_set, applying)
                held = held or _without_room(rooms, (*needs.of_set, *of_job))
                if held is not None:
                    found[number] = held
    finally:
        admission.put_job_filters(present.job_filters)
        admission.put_queues(present.tree)
    return found


def _without_room(rooms: Rooms, needs: Needs) -> HeldBack | None:
    lacking = next(rooms.lacking(needs), None)
    return None if lacking is None else HeldBack(ROOM, Effect.WAIT, f"{NO_ROOM}: {lacking}")
