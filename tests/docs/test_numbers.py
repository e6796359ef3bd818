"""The numbers in the docs, compared with the constants of the code."""

from __future__ import annotations

import re
from functools import cache

import pytest

from api import concurrency_limits, item_pace, password_attempts
from api.client import inventory_file
from api.intake import limits
from api.rest import routes
from api.rest.contract import operation, query_values
from api.rest.contract.inputs import systems as system_inputs
from api.rest.contract.queries import Page, Summed
from api.rest.middleware import compression, gate
from api.rest.resources import commands, matches, readiness
from api.rest.serving import protocol
from api.use_cases import choose_trees, log_in
from api.watching import capacity, recent, watcher
from bench import all_cases
from bench.cases import submit as bench_submit
from bench.limits import database as bench_database
from domain.directory import passwords
from domain.recipe import watchdog
from domain.recipe_set import kept_systems, reports
from domain.requirements import comparisons
from domain.scheduling.decisions import timers
from domain.scheduling.world import absent_trees
from domain.system import failures
from postgres import log_parts
from runtime.settings import Settings
from store import contacts, event_log, sql
from tests.docs.page import TOP
from workers import clocks
from workers.explaining import explainer

SET = Settings.read({})
MIB, KIB, GIB = 1 << 20, 1 << 10, 1 << 30
SPARE_CONNECTIONS = capacity.RESERVED_CONNECTIONS + capacity.RESERVED_FILES

*FIRST_CASES, LAST_CASE = (f"`{case}`" for run in all_cases.RUNS if run.grows for case in run.cases)
GROWING = f"{', '.join(FIRST_CASES)} and {LAST_CASE}"

HTTP = (
    f"504 after {SET.position_wait_seconds:g} s (`LABLEDGER_POSITION_WAIT_SECONDS`)",
    f"take `limit` (at most {query_values.MAX_LIMIT:,}; default {Page().limit}",
    f"of `/system-usage` and `/log-usage` {Summed().limit:,})",
    f"Answers of {compression.MIN_BYTES // KIB} KiB and more are compressed",
    f"the first {limits.MAX_FAULTS} of them",
    f"A body has at most {operation.MAX_BODY_BYTES // MIB} MiB",
    f"`/updates`, `/inventory` and `/imports/beaker` {operation.MAX_BATCH_BYTES // MIB} MiB",
    f"`/login` {operation.MAX_LOGIN_BYTES // KIB} KiB (413)",
    f"{SET.requests_per_second:,} requests a second (`LABLEDGER_REQUESTS_PER_SECOND`)",
    f"takes {SET.items_per_second:,} items a second from one user or lab controller",
    f"the items of {item_pace.BURST_SECONDS:g} s and one more message",
    f"needs a timeout above {item_pace.MAX_WAIT_SECONDS:g} s",
    f"longer than {item_pace.MAX_WAIT_SECONDS:g} s, or behind",
    f"behind {item_pace.MAX_WAITING} others in its process, is 429",
    f"after {password_attempts.MAX_FAILED_BY_USER} wrong passwords for a name",
    f"or {password_attempts.MAX_FAILED_BY_ADDRESS} from one address",
    f"at most {choose_trees.MAX_COMPARISONS:,} comparisons",
    f"{choose_trees.MAX_CPU_SECONDS:g} s of CPU time",
    f"a device as {comparisons.DEVICE_COST}",
    f"at most {SET.max_log_bytes_per_day // GIB} GiB of log a day",
    f"{SET.max_unfinished_recipes:,} unfinished recipes (409)",
    f"{SET.max_live_tokens} live tokens (409)",
    f"{SET.max_requests_under_way} requests under way, {SET.max_waiting_reads} of them reads",
    f"{SET.max_user_body_bytes // MIB} MiB of bodies",
    f"All bodies together have {SET.max_body_bytes // MIB} MiB",
    f"from {concurrency_limits.MIN_LONG_BYTES // KIB} KiB on",
    f"After {password_attempts.MAX_FAULTY} logins within a minute",
    f"A client has {SET.request_seconds:g} s for the head of a request",
    f"for each {protocol.PROGRESS_BYTES // KIB} KiB of its body",
    f"It has {SET.keepalive_seconds:g} s between requests",
    f"A head has at most {protocol.MAX_HEAD_BYTES // KIB} KiB (431)",
    f"for a token of {log_in.TOKEN_LIFETIME.total_seconds() / 3600:g} hours",
    f"takes {system_inputs.MAX_IMPORTED:,} systems at most",
    f"After {explainer.TIMEOUT_SECONDS:g} s the answer is 503",
    f"has {matches.MAX_ENTRIES:,} lines at most",
    f"for one lab {commands.MAX_WAITING} requests may wait",
    f"at first {failures.BROKEN_AFTER}",
    f"A recipe takes {reports.MAX_RESULTS:,} results and {reports.MAX_LOGS:,} logs",
    f"was not heard for {timers.SILENT_AFTER_SECONDS} s",
    f"at most some {sql.MAX_PAGE_BYTES // MIB} MiB of events",
    f"has at least {passwords.MIN_LENGTH} characters",
    f"keeps the system for {kept_systems.DEFAULT_SECONDS // 3600} hours",
    f"{watchdog.FIRST_TASK_SECONDS:,} s until the first task, then {watchdog.TASK_SECONDS:,} s",
    f"to {contacts.GRAIN_SECONDS:g} s",
)
WATCHING = (
    f"retry: {watcher.RETRY_SECONDS * 1000:g}",
    f"After {watcher.PING_SECONDS:g} s of silence",
    f"does not take {watcher.PIECE_BYTES // 1024} kB in {watcher.WRITE_SECONDS:g} s",
    f"the last {recent.RECENT_EVENTS:,} events or {recent.RECENT_BYTES // MIB} MB",
    f"a process takes {capacity.MAX_WATCHERS:,} watchers",
    f"{SPARE_CONNECTIONS} are kept for everything else",
)
OPERATION = (
    f'it "may report {SET.items_per_second:,} items a second" has more items waiting',
    f"than are taken within {item_pace.MAX_WAIT_SECONDS:g} s",
    f"at most {readiness.MAX_LAG_EVENTS:,} events and {readiness.MAX_LAG_SECONDS:g} s behind",
    f"has looked at the log within {readiness.MAX_UNREAD_SECONDS:g} s",
    f"after {gate.MAX_UNREAD_SECONDS:g} s without it refuses every token",
    f"it answers within {readiness.ANSWER_SECONDS:g} s",
    f"less {capacity.RESERVED_FILES} that it needs itself, and {capacity.MAX_CONNECTIONS:,} at most",
    f"all places but {capacity.RESERVED_CONNECTIONS}, and {capacity.MAX_WATCHERS:,} at most",
    f"not heard for {timers.SILENT_AFTER_SECONDS} s gets no recipes",
    f"submitter are {SET.max_log_bytes_per_day // GIB} GiB of log a day",
    f"and {SET.max_unfinished_recipes:,} unfinished recipes, that of",
    f"every user {SET.max_live_tokens} live tokens",
    f"differ by more than {clocks.MAX_DIFFERENCE_SECONDS} s",
    f"{clocks.SETTLING_SECONDS // 60} minutes after",
)
ROWS = {
    "docs/http.md": HTTP,
    "docs/watching.md": WATCHING,
    "docs/operation.md": OPERATION,
    "docs/how-to/run-a-lab.md": (f"Up to {inventory_file.SYSTEMS_IN_PART} systems are one commit",),
    "docs/read-models.md": (
        f"a part of the log, which is {log_parts.PART_POSITIONS:,} positions",
        f"at most {event_log.MAX_ACTOR_POSITIONS:,} positions (`MAX_ACTOR_POSITIONS`)",
    ),
    "docs/scheduling.md": (f"given up after {absent_trees.MAX_ABSENCE_SECONDS} s without",),
    "docs/performance.md": (
        f"{bench_submit.CLIENTS} clients submit for `--seconds`",
        f"{bench_database.GRANTS_PER_INSERT} allocations to a commit",
        f"measures every case, {GROWING} at a hundredth, a tenth and the whole",
    ),
    "docs/decisions/0012-silent-labs.md": (f"older than {timers.SILENT_AFTER_SECONDS} s",),
    "docs/decisions/0024-quotas.md": (
        f"{SET.max_log_bytes_per_day // GIB} GiB | 429",
        f"{SET.max_unfinished_recipes:,} | 409",
        f"{SET.max_live_tokens} | 409",
    ),
}


@cache
def text(page: str) -> str:
    return " ".join((TOP / page).read_text("utf-8").split())


@pytest.mark.parametrize(("page", "said"), [(page, said) for page, rows in ROWS.items() for said in rows])
def test_number__of_a_page__is_that_of_the_code(page: str, said: str) -> None:
    assert said in text(page)


def test_scheduler_readme__files_of_its_folder__names_each() -> None:
    files = {
        file for file in (TOP / "domain" / "scheduling").rglob("*.py") if file.parent.name != "explaining"
    }
    names = {file.name for file in files} - {"__init__.py"}
    assert {name for name in names if f"{name}`" not in text("domain/scheduling/README.md")} == set()


def test_clients_page__open_paths__are_those_without_a_role() -> None:
    (said,) = re.findall(r"can rely on it. (.*?) need no token", text("docs/how-to/write-a-client.md"))
    opened = {
        path for path, route in routes.API_ROUTES.items() if routes.WITHOUT_TOKEN in route.roles.values()
    }
    assert {*re.findall(r"`([^`]+)`", said)} == opened
