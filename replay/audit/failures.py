"""The invariant of failed provisionings: too many in a row make a system Broken in the same commit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from replay.audit.affected import Affected
from replay.audit.invariant import Invariant, Violations
from replay.audit.record import Commit, EventRecord
from replay.audit.tables import FINISHED
from replay.audit.world import FoldedWorld

DEFAULT_BROKEN_AFTER = 2
MAX_COUNTED = 20
FAILED = "system.provisioning-failed"


class FailureSeries(NamedTuple):
    """The distinct jobs and distros of consecutive failures of a system."""

    jobs: dict[Any, None]
    distros: dict[Any, None]


class BrokenWhenFailing(Invariant):
    """An Automated system becomes Broken with the last allowed failure; each failure gives up its recipe.

    Only failures since the last run or change of condition count, by distinct jobs and distinct distros. The
    lab controller sets the limit; 0 means no limit.
    """

    name = "broken_when_failing"
    topics = (
        *("recipe.new", "recipe.changed", *(f"recipe.{state}" for state in FINISHED)),
        *("lab-controller.registered", "lab-controller.changed"),
        *(FAILED, "system.running", "system.condition-changed"),
    )

    def __init__(self) -> None:
        self._limits: dict[str, int] = {}
        # Unfinished recipe -> its job and distro.
        self._recipes: dict[str, tuple[Any, Any]] = {}
        self._series: dict[str, FailureSeries] = {}
        # Series that a run has ended in this commit. A failure in the same commit, as of a kept system,
        # continues the series.
        self._ended: dict[str, FailureSeries] = {}
        self._failed: list[EventRecord] = []
        self._due: dict[str, EventRecord] = {}

    def check_event(self, world: FoldedWorld, record: EventRecord) -> Violations:
        if record.kind == "lab-controller":
            self._limits[record.name] = record.data.get("broken_after", DEFAULT_BROKEN_AFTER)
        elif record.topic == "recipe.new":
            if record.data.get("host_recipe_id") is None:
                self._recipes[record.name] = record.data.get("job_id"), _distro(record.data)
        elif record.topic == "recipe.changed":
            if record.name in self._recipes:
                self._recipes[record.name] = self._recipes[record.name][0], _distro(record.data)
        elif record.topic == FAILED:
            yield from self._check_failure(world, record)
        elif record.topic == "system.running":
            if record.name in self._series:
                self._ended[record.name] = self._series.pop(record.name)
        elif record.kind == "system":
            self._series.pop(record.name, None)
            if record.data.get("condition") == "Broken":
                self._due.pop(record.name, None)

    def _check_failure(self, world: FoldedWorld, record: EventRecord) -> Violations:
        system, failed = world.systems.get(record.name), self._recipes.get(str(record.data["recipe_id"]))
        self._failed.append(record)
        if system is None or failed is None:
            return
        before = self._ended.pop(record.name, None) or self._series.get(record.name)
        series = self._series[record.name] = before or FailureSeries({}, {})
        series.jobs[failed[0]] = series.distros[failed[1]] = None
        jobs, distros = len(series.jobs), len(series.distros)
        recorded = len(record.data["jobs"]), len(record.data["distros"])
        if recorded != (min(jobs, MAX_COUNTED), min(distros, MAX_COUNTED)):
            what = f"it has failed for {jobs} jobs and {distros} distros in a row, but records {recorded}"
            yield self.violation([record.position], [record.subject], what)
        if system.condition == "Automated" and 0 < self._limits.get(system.lab, DEFAULT_BROKEN_AFTER) <= min(
            jobs, distros
        ):
            self._due[record.name] = record

    def check_commit(self, world: FoldedWorld, commit: Commit, affected: Affected) -> Violations:
        for record in self._due.values():
            what = "it failed too often in a row, but does not become Broken"
            yield self.violation([record.position], [record.subject], what)
        for record in self._failed:
            recipe = world.recipes.get(int(record.data["recipe_id"]))
            if recipe is not None and recipe.state != "reserved":
                what = f"the provisioning of {record.subject} failed for it, but it is {recipe.state}"
                yield self.violation([record.position], [recipe.subject, record.subject], what)
        self._due.clear()
        self._ended.clear()
        self._failed.clear()
        for record in commit.records:
            if record.kind == "recipe" and record.event_name in FINISHED:
                self._recipes.pop(record.name, None)


def _distro(data: Mapping[str, Any]) -> Any:
    own = data.get("distro")
    if own is None:
        return data.get("distro_tree_id")
    return own["osmajor"], own.get("osminor") or "0", own["arch"]
