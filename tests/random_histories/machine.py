"""A history as a state machine: actions of people and labs, and steps of the scheduler, interleaved."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from domain.events import Decided
from domain.scheduling.decisions.decide import decide
from tests.domain.scheduling.contents import snapshot_of
from tests.in_process.environment import Environment
from tests.random_histories import acts
from tests.random_histories.labs import beginnings
from tests.replay.audit.sound import assert_at_rest, assert_sound
from workers import scheduler

several = st.data()


class Histories(RuleBasedStateMachine):
    """One history, in an emptied environment."""

    def __init__(self, environment: Environment) -> None:
        super().__init__()
        self._stack = ExitStack()
        self.scene = self._stack.enter_context(environment.scene())
        self.scheduler = self.scene.scheduler
        self._usual = scheduler.DECISIONS_PER_COMMIT

    @initialize(beginning=beginnings, decisions_per_commit=st.sampled_from((1, 2, 500)))
    def begin(self, beginning: Decided, decisions_per_commit: int) -> None:
        scheduler.DECISIONS_PER_COMMIT = decisions_per_commit
        self.scene.put(beginning)
        self.scheduler.begin()

    # People and labs

    @rule(data=several)
    def job_is_submitted(self, data: Any) -> None:
        acts.submit(self.scene, data.draw)

    @rule(which=st.lists(st.sampled_from(acts.REPORTS), min_size=1, max_size=3), data=several)
    def lab_reports(self, which: list[acts.Act], data: Any) -> None:
        self.scheduler_settles()
        for act in which:
            act(self.scene, data.draw)

    @rule(which=st.lists(st.sampled_from(acts.EVERYBODY), min_size=1, max_size=4), data=several)
    def people_act(self, which: list[acts.Act], data: Any) -> None:
        for act in which:
            act(self.scene, data.draw)

    @rule(data=several)
    def holder_cannot_go_on(self, data: Any) -> None:
        self.scheduler.settle()
        acts.hit_a_holder(self.scene, data.draw)

    # The scheduler

    @rule(act=st.sampled_from(("decide once", "decide once", "settle", "settle", "die", "be replaced")))
    def scheduler_works(self, act: str) -> None:
        SCHEDULER[act](self)

    def scheduler_settles(self) -> None:
        self.scheduler.settle()
        self.scene.watched.at_rest()
        self._another_would_know_the_same()

    def scheduler_dies(self) -> None:
        """End the scheduler; the next one reads the whole log."""
        self.scheduler.die()
        self.scheduler.begin()

    def scheduler_is_replaced(self) -> None:
        """Replace the scheduler; the next one begins with its snapshot."""
        self.scheduler.leave()
        self.scheduler.begin(self.scheduler.snapshots.load())

    # Both at once

    @rule(stir=st.sampled_from(acts.STIRRING), act=st.sampled_from(acts.RACING), data=several)
    def somebody_is_first(self, stir: acts.Act, act: acts.Act, data: Any) -> None:
        """Run an action between a decision of the scheduler and its append."""
        stir(self.scene, data.draw)
        with self.scheduler.log.preceded(lambda: act(self.scene, data.draw)):
            self.scheduler.step()

    @rule(stir=st.sampled_from(acts.STIRRING), act=st.sampled_from(acts.RACING), data=several)
    def scheduler_is_first(self, stir: acts.Act, act: acts.Act, data: Any) -> None:
        """Run the scheduler between the decision of a use case and its append."""
        stir(self.scene, data.draw)
        with self.scene.api.appended.preceded(self.scheduler.step):
            act(self.scene, data.draw)

    # Invariants

    def _another_would_know_the_same(self) -> None:
        another = self.scene.watched.folded()
        assert not decide(another, limit=1), "a scheduler that reads the whole log finds something to decide"
        assert snapshot_of(another) == snapshot_of(self.scheduler.partition)

    # The end

    def teardown(self) -> None:
        try:
            if sys.exc_info()[0] is None:
                self._end()
        finally:
            scheduler.DECISIONS_PER_COMMIT = self._usual
            with self._stack:
                self.scheduler.die()

    def _end(self) -> None:
        self.scheduler_settles()
        records = self.scene.watched.records
        assert_sound(records)
        assert_at_rest(records)


SCHEDULER: dict[str, Callable[[Histories], None]] = {
    "decide once": lambda history: history.scheduler.step(),
    "settle": Histories.scheduler_settles,
    "die": Histories.scheduler_dies,
    "be replaced": Histories.scheduler_is_replaced,
}
