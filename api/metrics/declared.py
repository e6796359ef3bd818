"""Every metric: its name, what it says, and the labels it may have. `docs/metrics.md` is made from these.

No label holds what people have named or what grows without end: no job, recipe, user or system. A scrape is
read by more people than the log is, and each value of a label is a series for ever. The one exception are lab
controllers: they are few, and an operator has to know which of them is silent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Final

from domain.recipe.lifecycle import UNFINISHED
from domain.scheduling.decisions.timers import Findings
from domain.scheduling.world.triggers import LET_GO, NEW_JOB, PENDING_SYSTEM, TIMER, WAKE_UP
from domain.system.lifecycle import CONDITIONS, USAGE
from projections.durations import BOUNDS
from workers.clocks import DOUBTS

PREFIX: Final = "labledger_"

Labels = Mapping[str, tuple[str, ...] | None]
"""The values that a label may have, by its name; None: those that there are."""


@dataclass(frozen=True)
class Declared:
    """`name` is without the prefix, and without the suffix that Prometheus wants of a counter.

    One whose label values are listed has all of them from the beginning, at 0. `bounds` are those of the
    buckets of a histogram, in seconds.
    """

    name: str
    text: str
    labels: Labels = field(default_factory=dict)
    bounds: tuple[float, ...] = ()

    @property
    def family(self) -> str:
        return PREFIX + self.name


SERVE, SCHEDULER, PROJECTOR = "serve", "scheduler", "projector"
PROCESSES: Final = {"process": (SERVE, SCHEDULER, PROJECTOR)}
REQUEST: Final[Labels] = {"method": None, "route": None}
TRIGGERS: Final = (NEW_JOB, PENDING_SYSTEM, LET_GO, WAKE_UP, TIMER)
FINDINGS: Final = tuple(finding.name for finding in fields(Findings))
# A long poll takes as long as it was asked to.
REQUEST_BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

GAUGES: Final = (
    Declared("systems", "Systems by what they do now", {"condition": CONDITIONS, "usage": USAGE.states}),
    Declared("recipes", "Unfinished recipes by state", {"state": UNFINISHED}),
    Declared(
        "oldest_unplaced_seconds", "Since the oldest unplaced recipe was submitted; 0: none is unplaced"
    ),
    Declared(
        "lab_controller_silent",
        "1 for an enabled lab that gets no recipes: its controller is silent, or was never heard",
        {"lab_controller": None},
    ),
    Declared("watchers", "Watchers that follow the events live"),
    Declared("log_position", "Last position of the log"),
    Declared("projector_lag_events", "Positions of the log that are not folded yet", {"projector": None}),
    Declared("projector_lag_seconds", "Age of the first event not folded yet; 0: none", {"projector": None}),
    Declared("scheduler_active", "1 while a scheduler holds the lease and gets on, else 0"),
)

DURATIONS: Final = (
    Declared(
        "recipe_wait_seconds",
        "Recipes: from submitted until placed for good, which is known once they are provisioned",
        bounds=BOUNDS["wait"],
    ),
    Declared(
        "recipe_provisioning_seconds",
        "Recipes: from placed for good until the first task began",
        bounds=BOUNDS["provisioning"],
    ),
    Declared(
        "recipe_execution_seconds",
        "Recipes: from the first task until the last one ended, however it ended",
        bounds=BOUNDS["execution"],
    ),
)
"""From `read.durations`, whose measures are the second word of the name."""

COUNTERS: Final = (
    Declared("scheduler_decisions", "Decisions, by what they answer", {"trigger": TRIGGERS}),
    Declared("scheduler_commits", "Commits of the scheduler, each of one decision or more"),
    Declared("scheduler_events", "Events appended by the scheduler"),
    Declared("scheduler_conflicts", "Commits of the scheduler refused as something had moved"),
    Declared(
        "consistency_findings",
        "Found by the consistency loop; out_of_step and idle_but_wanted never happen",
        {"finding": FINDINGS},
    ),
    Declared(
        "consistency_withheld_turns",
        "Turns of the consistency loop that ended nothing: clocks of scheduler and database differ or moved",
        {"doubt": DOUBTS},
    ),
    Declared("append_commits", "Statements by which processes that serve appended"),
    Declared("append_requests", "Requests in these statements, appended or refused"),
    Declared("append_events", "Events appended by processes that serve"),
    Declared("append_conflicts", "Requests refused by the versions that they expected"),
    Declared("append_retries", "Statements made again while the database was away"),
    Declared("watching_sent", "Events sent to watchers, counted for each of them"),
    Declared("watching_cut", "Watchers cut because they did not read in time"),
    Declared("watching_refused", "Watchers turned away because there were too many"),
    Declared("projector_pages", "Pages of the log folded into the read models"),
    Declared("projector_events", "Events folded into the read models"),
    Declared(
        "tailer_backstop_finds", "Pages of the log that no notification told of; never happens", PROCESSES
    ),
    Declared("tailer_reconnects", "Sessions following the log that had to be renewed", PROCESSES),
    Declared("http_requests", "Requests answered", {**REQUEST, "status": None}),
)

HISTOGRAMS: Final = (
    Declared(
        "http_request_seconds", "From a request to the beginning of its answer", REQUEST, REQUEST_BOUNDS
    ),
)
"""Counted by the processes, as counters of the buckets (`le`) and of the sum."""
