"""Random labs and random histories: every decision is what a scan of everything would decide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from domain.priority import Priority
from domain.scheduling.decide import decide
from tests.domain.scheduling import invariants, reference
from tests.domain.scheduling.contents import check_indexes, contents
from tests.domain.scheduling.wants import ALL
from tests.domain.scheduling.world import World

LABS = ("lab-1", "lab-2", "lab-3")
ARCHES = ("x86_64", "aarch64")
NAMES = tuple(f"m{number}.example.com" for number in (2, 9, 10, 21, 3, 1, 20, 7))
POOLS = ("net", "gpu")
CONDITIONS = ("Automated", "Automated", "Automated", "Manual", "Broken", "Removed")

some_labs = st.lists(st.sampled_from(LABS), unique=True)


class Steady(RuleBasedStateMachine):
    """Labs, trees and pools stay as they are; systems join, recipes come and end, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        # Whether an idle system may be wanted, because something eased that nothing asks again for.
        self.eased = False

    @initialize(
        enabled=st.lists(st.booleans(), min_size=3, max_size=3), places=st.tuples(some_labs, some_labs)
    )
    def begin(self, enabled: list[bool], places: tuple[list[str], list[str]]) -> None:
        for name, is_enabled in zip(LABS, [True, *enabled[1:]], strict=True):
            self.world.add_lab(name, is_enabled)
        for number, (arch, labs) in enumerate(zip(ARCHES, places, strict=True), start=1):
            self.world.put_tree(number, arch, ["lab-1", *labs])

    @precondition(lambda self: len(self.world.systems) < len(NAMES))
    @rule(
        lab=st.sampled_from(LABS),
        condition=st.sampled_from(CONDITIONS),
        pools=st.lists(st.sampled_from(POOLS), unique=True),
        arches=st.lists(st.sampled_from(ARCHES), unique=True, min_size=1),
        memory_mb=st.sampled_from((1024, 16384)),
        excluded=st.sampled_from(("nothing", "nothing", "Fedora")),
    )
    def register(self, lab: str, condition: str, excluded: str, pools: list[str], **inventory: Any) -> None:
        exclusions = [{"arch": "x86_64", "family": excluded, "version": None}]
        name = NAMES[len(self.world.systems)]
        self.world.add_system(name, lab, condition, pools, excluded_families=exclusions, **inventory)

    @rule(
        want=st.sampled_from(ALL),
        tree_id=st.sampled_from((1, 1, 2, 3, None)),
        priority=st.sampled_from([priority.name for priority in Priority]),
    )
    def submit(self, want: Any, tree_id: int | None, priority: str) -> None:
        self.world.submit(want.text, tree_id, priority)

    @precondition(lambda self: self.world.placed())
    @rule(which=st.integers(0, 99), way=st.sampled_from((World.complete, World.abort, World.cancel)))
    def end(self, which: int, way: Callable[[World, int], None]) -> None:
        placed = self.world.placed()
        way(self.world, placed[which % len(placed)].recipe_id)

    @precondition(lambda self: self.world.in_state("new", "queued"))
    @rule(which=st.integers(0, 99))
    def give_up_waiting(self, which: int) -> None:
        unplaced = self.world.in_state("new", "queued")
        self.world.cancel(unplaced[which % len(unplaced)].recipe_id)

    @rule(limit=st.sampled_from((1, 2, 500)))
    def decide(self, limit: int) -> None:
        before = contents(self.world.partition)
        decisions = self.world.decide(limit)
        assert contents(self.world.partition) == before, "supposing left something behind"
        assert self._after_restart(limit) == decisions, "a restarted scheduler decides otherwise"
        for decision in decisions:
            asked = reference.triggers(self.world)[0]
            trigger = decision.trigger
            assert (trigger.position, trigger.kind, trigger.name) == asked
            assert decision.events == reference.answer(self.world, asked)
            invariants.nobody_jumped(self.world, decision)
            self.world.commit(decision.events)
        assert len(decisions) == limit or not reference.triggers(self.world)

    def _after_restart(self, limit: int) -> Any:
        return decide(self.world.refolded(), limit)

    @invariant()
    def holds(self) -> None:
        check_indexes(self.world.partition)
        invariants.nobody_double_booked(self.world)
        invariants.in_step(self.world)
        if not self.eased:
            invariants.nobody_starves_an_idle_system(self.world)


class Changing(Steady):
    """Pools, trees and labs change as well, so that what was viable or usable is so no more, or only now."""

    @precondition(lambda self: self.world.systems)
    @rule(which=st.integers(0, 99), pool=st.sampled_from(POOLS))
    def move_pool(self, which: int, pool: str) -> None:
        self.eased = True
        names = list(self.world.systems)
        fqdn = names[which % len(names)]
        self.world.set_pool(pool, fqdn, pool not in self.world.pools.get(fqdn, []))

    @rule(tree_id=st.sampled_from((1, 2, 3)), labs=some_labs, arch=st.sampled_from(ARCHES))
    def change_tree(self, tree_id: int, labs: list[str], arch: str) -> None:
        self.eased = True
        self.world.put_tree(tree_id, arch, labs)

    @rule(lab=st.sampled_from(LABS))
    def switch_lab(self, lab: str) -> None:
        self.eased = True
        self.world.enable(lab, not self.world.enabled[lab])


bounds = settings(max_examples=150, stateful_step_count=40, deadline=None)

TestSteady = Steady.TestCase
TestSteady.settings = bounds
TestChanging = Changing.TestCase
TestChanging.settings = bounds
