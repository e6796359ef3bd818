"""The consistency loop, run as the scheduler process runs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from domain.scheduling.decisions.draft import Decision
from domain.scheduling.decisions.timers import Findings, LoopInput, correct
from tests.domain.scheduling.world import World


@dataclass
class Tick:
    """The findings and decisions of one turn of the loop."""

    findings: Findings
    decisions: list[Decision]

    @property
    def causes(self) -> list[str]:
        return [decision.trigger.cause for decision in self.decisions]


def tick(world: World, after_seconds: float = 0, heard: Mapping[str, datetime] | None = None) -> Tick:
    """Advance the time, run the loop, and settle."""
    world.now += timedelta(seconds=after_seconds)
    world.settle()
    found = run_loop(world, heard)
    world.settle()
    return found


def run_loop(world: World, heard: Mapping[str, datetime] | None = None) -> Tick:
    """Run only the loop, at the present time."""
    findings = Findings()
    decisions = correct(world.partition, LoopInput(world.now, heard or {}), findings)
    if decisions:
        world.commit_decisions(decisions, world.position)
    return Tick(findings, decisions)


def nothing_expires(world: World, within_seconds: float) -> None:
    """Check that no deadline expires until just before the time."""
    assert tick(world, within_seconds - 1).decisions == []
