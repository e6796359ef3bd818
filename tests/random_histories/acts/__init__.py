"""Actions of people and lab controllers through the use cases; each chooses among the present subjects."""

from __future__ import annotations

from tests.random_histories.acts.choosing import Act
from tests.random_histories.acts.people import (
    enable_or_disable,
    fall_silent_or_be_heard,
    provision_for_a_person,
    put_tree,
    reserve,
    return_reserved,
    take_tree_away,
)
from tests.random_histories.acts.reports import (
    give_back,
    release,
    report_abort,
    report_next,
    report_out_of_turn,
    run_to_the_end,
)
from tests.random_histories.acts.submitters import (
    cancel_newest,
    cancel_set,
    cancel_whole_job,
    change_newest,
    extend,
    reprioritise,
    reprioritise_newest,
    submit,
)
from tests.random_histories.acts.systems import (
    change_condition,
    change_much,
    change_pool,
    describe,
    drain_or_undrain,
    hit_a_holder,
    join,
    move,
    take_free_system_away,
)

REPORTS: tuple[Act, ...] = (
    *(report_next, report_next, report_next, run_to_the_end, run_to_the_end),
    *(report_abort, report_out_of_turn, release, give_back),
)
SUBMITTERS: tuple[Act, ...] = (
    *(submit, submit, extend, change_newest, change_newest),
    *(reprioritise, reprioritise, cancel_set, cancel_whole_job),
)
OPERATORS: tuple[Act, ...] = (
    *(change_condition, change_condition, change_condition, drain_or_undrain, drain_or_undrain),
    *(describe, move, change_much, join, change_pool, hit_a_holder),
)
PEOPLE: tuple[Act, ...] = (reserve, reserve, provision_for_a_person, return_reserved)
LAB: tuple[Act, ...] = (enable_or_disable, fall_silent_or_be_heard, put_tree, take_tree_away)
EVERYBODY = (*SUBMITTERS, *REPORTS, *OPERATORS, *PEOPLE, *LAB)
RACING: tuple[Act, ...] = (
    *(cancel_newest, reprioritise_newest, change_newest, extend, take_free_system_away, hit_a_holder),
    *(submit, cancel_set, change_condition, run_to_the_end, reserve, enable_or_disable),
)
# Actions that create work for the scheduler.
STIRRING: tuple[Act, ...] = (submit, submit, submit, run_to_the_end, run_to_the_end, change_condition)
