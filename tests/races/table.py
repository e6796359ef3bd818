"""The table of races: preparation, actors and conditions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from tests.races import actors as acting
from tests.races import conditions as judging
from tests.races import preparations as given
from tests.races.claims import CLAIM_RACES, FREQUENT_CLAIM_RACES
from tests.races.preemptions import FREQUENT_PREEMPTION_RACES, PREEMPTION_RACES
from tests.races.race import Race

RACES: Mapping[str, Race] = {
    "end, start with the same lock": Race(given.lock_is_held, acting.holder_ends, None, judging.has_started),
    "narrow, start with the same lock": Race(
        given.lock_is_held, acting.holder_narrows, None, judging.has_started
    ),
    "cancel, locks": Race(given.lock_came_free, acting.cancel, None, judging.is_cancelled),
    "break, locks": Race(
        given.lock_came_free, acting.break_down, None, judging.broken_before_or_after_its_locks
    ),
    "put a rule, first grant": Race(given.new_set, acting.forbid, None, judging.granted_before_the_rule),
    "lower a limit, first grant": Race(given.new_set, acting.limit, None, judging.granted_before_the_rule),
    "lower the maximum of a queue, first grant": Race(
        given.new_set, acting.close_queue, None, judging.granted_before_the_rule
    ),
    "end, first grant in a full queue": Race(
        given.room_is_taken, acting.holder_ends, None, judging.has_started
    ),
    "cancel, first grant in a full queue": Race(
        given.room_is_taken, acting.cancel, None, judging.never_started
    ),
    "end, end in a full queue": Race(
        given.all_room_is_taken, acting.holder_ends, acting.other_holder_ends, judging.has_started
    ),
    "outcome, dependent submitted": Race(
        given.end_is_near, acting.holder_ends, acting.submit_dependent, judging.has_started
    ),
    "lab leaves, grant to a new set": Race(
        given.beside_another, acting.leave_partition, None, judging.granted_or_left
    ),
    "lab leaves, reserve": Race(
        given.manual_beside_another, acting.leave_partition, acting.reserve, judging.reserved_where_it_is
    ),
    "cancel, grant to a new set": Race(given.new_set, acting.cancel, None, judging.is_cancelled),
    "cancel, grant of a pending system": Race(
        given.pending_system, acting.cancel, None, judging.is_cancelled
    ),
    "cancel, grant of half a set": Race(given.half_a_set, acting.cancel, None, judging.is_cancelled),
    "remove, grant to a new set": Race(given.new_set, acting.remove, None, judging.removed_and_free),
    "break, grant to a new set": Race(given.new_set, acting.break_down, None, judging.broken_and_free),
    "break, grant of a pending system": Race(
        given.pending_system, acting.break_down, None, judging.broken_and_free
    ),
    "break, grant of half a set": Race(given.half_a_set, acting.break_down, None, judging.half_is_back),
    "something runs there, grant to a new set": Race(
        given.new_set, acting.occupy, None, judging.granted_or_occupied
    ),
    "something runs there, grant of a pending system": Race(
        given.pending_system, acting.occupy, None, judging.granted_or_occupied
    ),
    "something runs there, grant of half a set": Race(
        given.half_a_set, acting.occupy, None, judging.granted_or_occupied
    ),
    "change the recipe, grant to a new set": Race(
        given.another_fits, acting.change_requirement, None, judging.granted_as_it_was_or_changed
    ),
    "lab lost the recipe, grant to a new set": Race(
        given.installs, acting.lose, None, judging.lost_and_granted
    ),
    "drain, grant": Race(given.new_set, acting.drain, None, judging.granted_or_drained),
    "move to another lab, grant": Race(given.new_set, acting.move, None, judging.granted_or_moved),
    "close the pool, grant": Race(given.in_a_pool, acting.close_pool, None, judging.granted_before),
    "leave the pool, grant": Race(given.in_a_pool, acting.leave_pool, None, judging.granted_before),
    "leave the group, grant": Race(
        given.in_a_pool_for_a_group, acting.leave_group, None, judging.granted_before
    ),
    "reserve, forced grant": Race(given.forced, acting.reserve, None, judging.one_has_it),
    "change priority, start": Race(given.new_set, acting.urgent, None, judging.no_change_after_the_start),
    "cancel, report installing": Race(
        given.waiting, acting.cancel, acting.installing, judging.reported_in_time
    ),
    "cancel, report completed": Race(given.tasks_ended, acting.cancel, acting.completed, judging.ended_once),
    "break, report completed": Race(given.tasks_ended, acting.break_down, acting.completed, lambda *_: None),
    "cancel, cancel": Race(given.waiting, acting.cancel, acting.cancel, judging.cancelled_once),
    "reserve on loan, grant": Race(given.lent, acting.reserve, None, judging.one_has_it),
    "reserve on loan, end of the loan": Race(
        given.lent_alone, acting.reserve, acting.end_the_loan, judging.loan_is_over
    ),
    "lend, reserve": Race(
        given.manual, acting.lend, partial(acting.reserve, user="bob"), judging.lent_or_reserved_before
    ),
    "lend, lend": Race(given.manual, acting.lend, partial(acting.lend, user="bob"), judging.lent_once),
    **CLAIM_RACES,
    **PREEMPTION_RACES,
    "reserve, reserve": Race(
        given.manual, acting.reserve, partial(acting.reserve, user="bob"), judging.reserved_once
    ),
}

FREQUENT = (
    "cancel, grant to a new set",
    "end, first grant in a full queue",
    "remove, grant to a new set",
    "something runs there, grant to a new set",
    "change the recipe, grant to a new set",
    "lab lost the recipe, grant to a new set",
    "lower the maximum of a queue, first grant",
    "lab leaves, grant to a new set",
    "end, end in a full queue",
    *FREQUENT_CLAIM_RACES,
    *FREQUENT_PREEMPTION_RACES,
)
"""The races about room, partitions, claims and preemption, which are played most often."""
