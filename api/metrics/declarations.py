"""Declarations of all metrics, with their texts and labels. `docs/metrics.md` is generated from them.

No label names a job, recipe, user or system: more people may read the metrics than the log, and each value of
a label is a series for ever. Labels do name lab controllers and partitions: there are few, and an operator
has to know which one is silent, and which one has no scheduler. Counters add up over all partitions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from api.metrics.slow_metrics import OUTCOMES
from domain.contention.locks import LEVELS, WHOLE_LAB
from domain.notifications.kinds import MAIL, WEBHOOK
from domain.notifications.retries import DROPPED, FAILED, GIVEN_UP, SENT, WAITING
from domain.recipe.lifecycle import UNFINISHED
from domain.scheduling.decisions.timers import Findings
from domain.scheduling.supply.waiting_reasons import SENTENCES
from domain.scheduling.world.conservation import LAWS
from domain.scheduling.world.triggers import ORDER, TIMER
from domain.system.lifecycle import CONDITIONS, USAGE
from domain.system.usage import UNAVAILABLE
from projections.durations import BOUNDS, LABELS
from projections.fold_locks import LOCK_STATES
from workers.clocks import DOUBTS

PREFIX: Final = "labledger_"

Labels = Mapping[str, tuple[str, ...] | None]
"""The possible values of each label, None if they are not known in advance."""


@dataclass(frozen=True)
class MetricSpec:
    """A metric; `name` is without the prefix, and without the suffix of a counter.

    If the values of all its labels are listed, the metric has a sample for each of them from the start, at 0.
    `bounds` are the upper bounds of the buckets of a histogram, in seconds.
    """

    name: str
    text: str
    labels: Labels = field(default_factory=dict)
    bounds: tuple[float, ...] = ()

    @property
    def family(self) -> str:
        return PREFIX + self.name


SERVE, SCHEDULER, PROJECTOR, NOTIFIER = "serve", "scheduler", "projector", "notifier"
PROCESSES: Final = {"process": (SERVE, SCHEDULER, PROJECTOR, NOTIFIER)}
REQUEST: Final[Labels] = {"method": None, "route": None}
ATTEMPT_OUTCOMES: Final = (SENT, FAILED, GIVEN_UP, DROPPED)
NOTIFICATION_STATES: Final = (WAITING, GIVEN_UP)
TRIGGERS: Final = (*ORDER, TIMER)
FINDINGS: Final = tuple(Findings().by_name())
# The last bounds are for long polls.
REQUEST_BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

GAUGES: Final = (
    MetricSpec(
        "systems",
        "Systems by condition and usage; idle Automated systems that take nothing new are draining, "
        "occupied, or disabled with their lab",
        {"condition": CONDITIONS, "usage": (*USAGE.states, *UNAVAILABLE)},
    ),
    MetricSpec("recipes", "Unfinished recipes by state", {"state": UNFINISHED}),
    MetricSpec(
        "locks",
        "Resource locks of recipes by level: held, and awaited by sets that have all their systems",
        {"level": (*LEVELS, WHOLE_LAB), "state": LOCK_STATES},
    ),
    MetricSpec(
        "unplaced_recipes",
        "Unplaced recipes, without guests, by the code of their current reason and by priority; absent "
        "without recent counts",
        {"reason": tuple(SENTENCES), "priority": LABELS["wait"]},
    ),
    MetricSpec(
        "oldest_unplaced_seconds",
        "Seconds since the oldest unplaced recipe of the priority was submitted; 0: none",
        {"priority": LABELS["wait"]},
    ),
    MetricSpec(
        "lab_controller_silent",
        "1 for an enabled lab that gets no recipes because its controller is silent, or was never heard",
        {"lab_controller": None},
    ),
    MetricSpec(
        "notifications",
        "Notifications that are waiting to be sent, or that were given up in the last 30 days",
        {"state": NOTIFICATION_STATES},
    ),
    MetricSpec(
        "notification_backlog_seconds",
        "Age of the oldest notification that is waiting to be sent; 0: none",
        {"channel": (MAIL, WEBHOOK)},
    ),
    MetricSpec("notifier_lag_events", "Positions of the log that the notifier has not processed yet"),
    MetricSpec(
        "notifier_lag_seconds",
        "Age of the first event that the notifier has not processed, or the time since it stored its "
        "position if that is longer; 0 if there has never been a notifier",
    ),
    MetricSpec("ldap_sync_failed", "1 if the last LDAP sync did not succeed, else 0"),
    MetricSpec("ldap_sync_age_seconds", "Time since the last LDAP sync that succeeded; 0 without LDAP"),
    MetricSpec("watchers", "Clients that follow the event stream"),
    MetricSpec("log_position", "Last position of the log"),
    MetricSpec(
        "projector_lag_events",
        "Positions of the log that the projector has not processed yet",
        {"projector": None},
    ),
    MetricSpec(
        "projector_lag_seconds", "Age of the first event not processed yet; 0: none", {"projector": None}
    ),
    MetricSpec(
        "scheduler_active",
        "1 while a scheduler holds the lease of the partition and makes progress, else 0",
        {"partition": None},
    ),
)

_DURATIONS: Final = (
    MetricSpec(
        "recipe_wait_seconds",
        "Time of recipes from submission until their final placement, observed when they are provisioned",
        {"priority": LABELS["wait"]},
        bounds=BOUNDS["wait"],
    ),
    MetricSpec(
        "lock_wait_seconds",
        "Time of recipes from their final placement until their resource locks, unless they got both at once",
        bounds=BOUNDS["locking"],
    ),
    MetricSpec(
        "recipe_provisioning_seconds",
        "Time of recipes from their final placement, with their locks, until the start of the first task",
        bounds=BOUNDS["provisioning"],
    ),
    MetricSpec(
        "provisioning_failure_seconds",
        "Time of recipes from their final placement, with their locks, until the service or the lab gave "
        "them up before the first task, by their state until then",
        {"stage": LABELS["failure"]},
        bounds=BOUNDS["failure"],
    ),
    MetricSpec(
        "recipe_execution_seconds",
        "Time of recipes from the start of the first task until the end of the last one, with any result",
        bounds=BOUNDS["execution"],
    ),
)
DURATIONS: Final = dict(zip(BOUNDS, _DURATIONS, strict=True))
"""Histograms of the table `read.durations`, by its column `measure`."""

COUNTERS: Final = (
    MetricSpec("scheduler_decisions", "Decisions of the scheduler, by trigger", {"trigger": TRIGGERS}),
    MetricSpec("scheduler_commits", "Commits of the scheduler, with one or more decisions each"),
    MetricSpec("scheduler_events", "Events appended by the scheduler"),
    MetricSpec("scheduler_conflicts", "Commits of the scheduler refused because of a concurrent change"),
    MetricSpec(
        "scheduler_commits_reread",
        "Commits that the scheduler rolled back and read, as other events had to be folded first",
    ),
    MetricSpec("scheduler_foreign_events", "Events of other partitions that the scheduler read; always 0"),
    MetricSpec(
        "consistency_findings",
        "Findings of the consistency loop; idle_but_wanted and *_overlooked indicate a bug",
        {"finding": FINDINGS},
    ),
    MetricSpec(
        "conservation_violations",
        "Violations of the conservation laws in the state of the scheduler; more than 0 indicates a bug",
        {"law": tuple(LAWS)},
    ),
    MetricSpec(
        "consistency_withheld_turns",
        "Rounds of the consistency loop that ended nothing because the clocks of scheduler and database "
        "differed or jumped",
        {"doubt": DOUBTS},
    ),
    MetricSpec("append_commits", "Append statements of serving processes"),
    MetricSpec("append_requests", "Requests in these append statements, appended or refused"),
    MetricSpec("append_events", "Events appended by serving processes"),
    MetricSpec("append_conflicts", "Append requests refused because of an unexpected version"),
    MetricSpec("append_retries", "Append statements retried while the database was unavailable"),
    MetricSpec("watching_sent", "Events sent to watchers, counted once per watcher"),
    MetricSpec("watching_cut", "Watchers disconnected because they did not read in time"),
    MetricSpec("watching_refused", "Watchers refused because there were too many"),
    MetricSpec("projector_pages", "Pages of the log applied to the read models"),
    MetricSpec("projector_events", "Events applied to the read models"),
    MetricSpec("notifier_events", "Events read by the notifier"),
    MetricSpec(
        "notifications_too_old", "Notifications that were not sent, because they were older than a day"
    ),
    MetricSpec(
        "notification_attempts",
        "Attempts to send notifications: sent, failed and to be repeated, given up, or dropped",
        {"channel": (MAIL, WEBHOOK), "outcome": ATTEMPT_OUTCOMES},
    ),
    MetricSpec(
        "tailer_backstop_finds",
        "Pages of the log found by polling, without a notification; more than 0 indicates a bug",
        PROCESSES,
    ),
    MetricSpec("tailer_reconnects", "Database sessions that follow the log and were reopened", PROCESSES),
    MetricSpec(
        "estimated_recipes",
        "Started recipes, a sample, by whether they started within the p90 that was estimated at first",
        {"outcome": OUTCOMES},
    ),
    MetricSpec("http_requests", "Answered HTTP requests", {**REQUEST, "status": None}),
)

HISTOGRAMS: Final = (
    MetricSpec(
        "http_request_seconds", "Time from a request to the beginning of its answer", REQUEST, REQUEST_BOUNDS
    ),
)
"""Histograms that processes count, with a counter for each bucket (`le`) and one for the sum."""
