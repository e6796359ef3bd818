"""Races about claims: a request against the decision that begins a claim, or that serves the claimant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from api.use_cases.change_partition import configure_partition
from domain.admission.configuration import ClaimSection, Configuration
from domain.directory.partitions import DEFAULT
from domain.errors import Refused
from tests.in_process.api_process import ApiProcess
from tests.races import actors as acting
from tests.races import conditions as judging
from tests.races import preparations as given
from tests.races.conditions import Outcome
from tests.races.race import Judge, Prepare, Race, RequestOf
from tests.races.stage import RaceStage

AT_ONCE, NEVER = ClaimSection(after_ticks=0), ClaimSection(after_ticks=None)


# Preparations


def _busy(stage: RaceStage) -> None:
    """Run a recipe whose tasks have ended; it is the holder."""
    given.end_is_near(stage)


def _to_claim_by_force(stage: RaceStage) -> None:
    """Submit a set that forces the busy system; it stays new."""
    _busy(stage)
    stage.submit({"force": stage.fqdn})


def _to_serve(stage: RaceStage) -> None:
    """Let the claimed system come free; the scheduler has not answered that yet."""
    _to_claim_by_force(stage)
    _claim_and_end(stage)


def _to_claim_by_age(stage: RaceStage) -> None:
    """Queue a set for the busy system, which it claims at the next run of the consistency loop."""
    _configure(stage.scene.api, AT_ONCE)
    _busy(stage)
    stage.submit()
    stage.settle()
    stage.scene.scheduler.loop.is_demanded = True


def _to_serve_by_age(stage: RaceStage) -> None:
    """Let a system come free that is claimed by age; the scheduler has not answered that yet."""
    _to_claim_by_age(stage)
    _claim_and_end(stage)


def _claim_and_end(stage: RaceStage) -> None:
    """Let the scheduler begin the claim, and end the holder."""
    stage.settle()
    assert stage.recipe().claim is not None
    acting.holder_ends(stage, stage.scene.api)


def _to_queue_without_claims(stage: RaceStage) -> None:
    """Submit a set for the busy system while nothing is claimed by age; it stays new."""
    _busy(stage)
    stage.submit()
    stage.scene.scheduler.loop.is_demanded = True


# Actors


def _configure(process: ApiProcess, claims: ClaimSection) -> Outcome:
    wanted = Configuration(claims=claims)
    return process.ask(lambda services, request: configure_partition(services, request, DEFAULT, wanted))


def _claims_begin(_: RaceStage, process: ApiProcess) -> Outcome:
    return _configure(process, AT_ONCE)


def _claims_stop(_: RaceStage, process: ApiProcess) -> Outcome:
    return _configure(process, NEVER)


def _end_and_leave(stage: RaceStage, process: ApiProcess) -> Outcome:
    """End the holder and let the lab leave, which is refused if another recipe has the system by then."""
    acting.holder_ends(stage, process)
    return acting.leave_partition(stage, process)


# Conditions


def _without_claim(judge: Judge) -> Judge:
    """Return the conditions with one more: each claim has ended."""

    def judge_both(stage: RaceStage, ours: Outcome, theirs: Outcome) -> None:
        judge(stage, ours, theirs)
        story = stage.story()
        assert story.count("claimed") == story.count("claim-ended")
        partition = stage.scene.scheduler.partition
        assert (stage.recipe().claim, partition.sets.claims.of) == (None, {})
        assert partition.conservation.broken_laws(partition.systems) == {}

    return judge_both


def _cancelled_beside_the_holder(stage: RaceStage, cancelled: Outcome, _: Outcome) -> None:
    assert cancelled is not None
    assert stage.story()[-1] == "cancelled" and "scheduled" not in stage.story()
    assert stage.system().recipe_id == stage.holder_id


def _granted_or_left(stage: RaceStage, left: Outcome, _: Outcome) -> None:
    """The claimant has the system, or waits or is aborted without it."""
    if isinstance(left, Refused):
        assert (stage.recipe().state, stage.recipe().system) == ("waiting", stage.fqdn)
    else:
        assert stage.recipe().state in ("queued", "aborted")
        assert stage.system().recipe_id is None


def _removed(stage: RaceStage, _: Outcome, __: Outcome) -> None:
    """The system is gone; the claimant is aborted with it after a grant, otherwise it may wait."""
    assert stage.recipe().state == "aborted" or "scheduled" not in stage.story()
    assert (stage.system().condition, stage.system().usage) == ("Removed", "idle")


def _claimed_before(stage: RaceStage, changed: Outcome, _: Outcome) -> None:
    """The recipe claims the system only if it did so before the change of the configuration."""
    _agrees(stage)
    assert changed is not None
    claimed = stage.positions(f"recipe/{stage.recipe_id}", "recipe.claimed")
    assert all(position < changed.position for position in claimed)


def _claimed_after(stage: RaceStage, changed: Outcome, _: Outcome) -> None:
    """The recipe claims the system after the change of the configuration, at the next run of the loop."""
    stage.scene.scheduler.loop.is_demanded = True
    stage.settle()
    _agrees(stage)
    (claimed,) = stage.positions(f"recipe/{stage.recipe_id}", "recipe.claimed")
    assert claimed > changed.position


def _agrees(stage: RaceStage) -> None:
    """Assert that recipe and partition have the same claim, or both none."""
    claim, partition = stage.recipe().claim, stage.scene.scheduler.partition
    assert partition.sets.claims.of == ({} if claim is None else {stage.fqdn: stage.recipe_id})
    assert (claim is not None) == ("claimed" in stage.story())
    assert partition.conservation.broken_laws(partition.systems) == {}


def _race(prepare: Prepare, act: RequestOf, judge: Judge) -> Race:
    return Race(prepare, act, None, _without_claim(judge))


def _lab_leaves(prepare: Prepare, act: RequestOf) -> Race:
    return replace(_race(given.beside(prepare), act, _granted_or_left), may_leave_pending=True)


CLAIM_RACES: Mapping[str, Race] = {
    "cancel, claim by force": _race(_to_claim_by_force, acting.cancel, _cancelled_beside_the_holder),
    "end, claim by force": _race(_to_claim_by_force, acting.holder_ends, judging.has_started),
    "remove, claim by force": _race(_to_claim_by_force, acting.remove, _removed),
    "end and lab leaves, claim by force": _lab_leaves(_to_claim_by_force, _end_and_leave),
    "cancel, claim by age": _race(_to_claim_by_age, acting.cancel, _cancelled_beside_the_holder),
    "end, claim by age": _race(_to_claim_by_age, acting.holder_ends, judging.has_started),
    "remove, claim by age": _race(_to_claim_by_age, acting.remove, _removed),
    "end and lab leaves, claim by age": _lab_leaves(_to_claim_by_age, _end_and_leave),
    "claims stop, claim by age": Race(_to_claim_by_age, _claims_stop, None, _claimed_before),
    "claims begin, first decision": Race(_to_queue_without_claims, _claims_begin, None, _claimed_after),
    "cancel, grant to a claimant": _race(_to_serve, acting.cancel, judging.is_cancelled),
    "remove, grant to a claimant": _race(_to_serve, acting.remove, _removed),
    "lab leaves, grant to a claimant": _lab_leaves(_to_serve, acting.leave_partition),
    "claims stop, grant to a claimant": _race(_to_serve_by_age, _claims_stop, judging.has_started),
}

FREQUENT_CLAIM_RACES = (
    "cancel, grant to a claimant",
    "end, claim by age",
    "remove, claim by force",
    "end and lab leaves, claim by age",
    "claims stop, claim by age",
)
"""A race of each actor, which is played most often."""
