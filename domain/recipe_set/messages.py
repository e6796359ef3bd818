"""The reports of lab controllers on recipes; `reports.py` returns the events that follow."""

from __future__ import annotations

from dataclasses import dataclass

from domain.contention.locks import Locks


@dataclass(frozen=True)
class ReportInstalling:
    """The lab controller has begun to provision."""


@dataclass(frozen=True)
class ReportTaskRunning:
    """A task has started; the first one makes the recipe running."""

    task_id: int


@dataclass(frozen=True)
class ResultLog:
    """A log file of a result, kept by the lab."""

    name: str
    url: str
    size_bytes: int | None = None
    sha256: str | None = None


@dataclass(frozen=True)
class ReportTaskResult:
    """A task has one more result. A result that equals an earlier one in all fields is a repetition."""

    task_id: int
    result: str
    message: str = ""
    score: float | None = None
    log_urls: tuple[str, ...] = ()
    path: str = ""
    logs: tuple[ResultLog, ...] = ()


@dataclass(frozen=True)
class ReportTaskEnded:
    """A task has ended; `state` is completed or aborted."""

    task_id: int
    state: str


@dataclass(frozen=True)
class ReportCompleted:
    """The last task has ended."""


@dataclass(frozen=True)
class ReportAborted:
    """The lab controller has given up the recipe."""

    reason: str


@dataclass(frozen=True)
class ReportWatchdog:
    """The lab controller sets the watchdog of the recipe to expire this many seconds from now."""

    seconds: int


@dataclass(frozen=True)
class ReportLocks:
    """The lab controller has given up locks of the recipe; `locks` are those that it still needs."""

    locks: Locks


Report = (
    ReportInstalling
    | ReportTaskRunning
    | ReportTaskResult
    | ReportTaskEnded
    | ReportCompleted
    | ReportAborted
    | ReportWatchdog
    | ReportLocks
)
