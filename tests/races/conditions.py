"""The conditions after a race, whichever actor was first."""

from __future__ import annotations

from typing import Any

from domain.errors import Refused
from domain.partition_numbers import DEFAULT_NUMBER
from domain.scheduling.world.partition import Partition
from tests.races.stage import LABS, RaceStage

Outcome = Any
"""The result of an act: its commit, None if nothing was left to do, or the refusal."""


def nothing_left(partition: Partition) -> None:
    """Assert that an empty partition keeps its laws, with no claim, no charge and no used system."""
    sets = partition.sets
    assert partition.conservation.broken_laws(partition.systems) == {}
    assert (sets.claims.of, sets.claims.forcing) == ({}, {})
    assert not sets.rooms.charged
    assert not any([*sets.rooms.used.values(), *sets.turns.used.values()])


def is_cancelled(stage: RaceStage, cancelled: Outcome, _: Outcome) -> None:
    """The recipe is cancelled, and its system is free."""
    assert cancelled is not None
    assert stage.story()[-1] == "cancelled"
    assert stage.system().usage == "idle"


def broken_and_free(stage: RaceStage, _: Outcome, __: Outcome) -> None:
    """A recipe that had begun is aborted; another one keeps its place in the queue."""
    had_begun = "waiting" in stage.story()
    assert stage.recipe().state == ("aborted" if had_begun else "queued")
    assert (stage.system().condition, stage.system().usage) == ("Broken", "idle")


def removed_and_free(stage: RaceStage, _: Outcome, __: Outcome) -> None:
    """The only system is gone, so the recipe is aborted, before or after its grant."""
    assert stage.recipe().state == "aborted"
    assert (stage.system().condition, stage.system().usage) == ("Removed", "idle")


def half_is_back(stage: RaceStage, _: Outcome, __: Outcome) -> None:
    assert {stage.recipe(place).state for place in (0, 1)} == {"queued"}
    assert stage.system().usage == "idle"


def granted_or_drained(stage: RaceStage, _: Outcome, __: Outcome) -> None:
    """The recipe keeps a system granted before the drain, and gets none after it."""
    assert stage.system().draining
    got = stage.story(f"system/{stage.fqdn}")
    if "waiting" in stage.story():
        assert got.index("scheduled") < got.index("drained")
        assert stage.recipe().system == stage.fqdn
    else:
        assert stage.recipe().state == "queued"


def granted_or_occupied(stage: RaceStage, _: Outcome, __: Outcome) -> None:
    """The recipe keeps the system if it started before; nobody else has an occupied system."""
    assert stage.system().occupied is not None
    got = stage.story(f"system/{stage.fqdn}")
    if "waiting" in stage.story():
        assert got.index("scheduled") < got.index("occupied")
        assert stage.recipe().system == stage.fqdn
    else:
        assert stage.recipe().state == "queued"
        assert (stage.system().usage, stage.system().recipe_id) == ("idle", None)


def granted_as_it_was_or_changed(stage: RaceStage, changed: Outcome, _: Outcome) -> None:
    """The recipe starts on the system of its requirement; no started recipe is changed."""
    assert stage.recipe().state == "waiting"
    first, second = stage.names
    is_refused = isinstance(changed, Refused)
    assert stage.recipe().system == (first if is_refused else second)
    assert ("changed" not in stage.story()) == is_refused
    assert stage.system().usage == ("waiting" if is_refused else "idle")


def lost_and_granted(stage: RaceStage, _: Outcome, __: Outcome) -> None:
    """The lost recipe is aborted, and the next one has the system."""
    assert stage.story(f"recipe/{stage.holder_id}")[-1] == "aborted"
    assert (stage.recipe().state, stage.recipe().system) == ("waiting", stage.fqdn)


def granted_or_moved(stage: RaceStage, moved: Outcome, _: Outcome) -> None:
    """The recipe has a system, in the lab where the system is at the end."""
    assert stage.recipe().lab_controller == ("lab-1" if isinstance(moved, Refused) else "lab-2")


def granted_or_left(stage: RaceStage, left: Outcome, _: Outcome) -> None:
    """The recipe has a system of its partition, or its lab has left without any recipe."""
    if isinstance(left, Refused):
        assert stage.recipe().system == stage.fqdn
    else:
        assert stage.recipe().state in ("queued", "aborted")
        (moved,) = stage.positions(f"lab-controller/{LABS[0]}", "lab-controller.partition-changed")
        assert all(granted < moved for granted in stage.positions(stage.system().subject, "system.scheduled"))


def reserved_where_it_is(stage: RaceStage, left: Outcome, reserved: Outcome) -> None:
    """A reservation keeps the lab in its partition; after the move, the reservation is of the other one."""
    assert stage.system().reservation is not None
    begun = stage.scene.log.load({stage.system().subject: 0})[stage.system().subject]
    (number,) = {each.partition for each in begun if each.event.TOPIC == "system.reservation-begun"}
    assert (number == DEFAULT_NUMBER) == isinstance(left, Refused)


def granted_before(stage: RaceStage, changed: Outcome, _: Outcome) -> None:
    """The recipe has the system only if it was granted before the permission ended."""
    if "scheduled" in stage.story():
        (granted,) = stage.positions(f"recipe/{stage.recipe_id}", "recipe.scheduled")
        assert granted < changed.position
        assert stage.recipe().system == stage.fqdn
    else:
        assert stage.recipe().state in ("queued", "aborted")
        assert stage.system().usage == "idle"


def one_has_it(stage: RaceStage, reserved: Outcome, _: Outcome) -> None:
    if isinstance(reserved, Refused):
        assert stage.recipe().system == stage.fqdn
        assert stage.system().reservation is None
    else:
        assert stage.recipe().state == "queued"
        assert stage.system().reservation is not None


def no_change_after_the_start(stage: RaceStage, changed: Outcome, _: Outcome) -> None:
    assert stage.recipe().state == "waiting"
    story = stage.story(f"recipe-set/{stage.recipe_set_id}")
    assert ("priority-changed" not in story) == isinstance(changed, Refused)


def ended_once(stage: RaceStage, cancelled: Outcome, reported: Outcome) -> None:
    """The recipe is completed or cancelled, and the other request is refused or does nothing."""
    if "completed" in stage.story():
        assert cancelled is None
    else:
        assert isinstance(reported, Refused)
    assert len({"completed", "cancelled"} & set(stage.story())) == 1


def reported_in_time(stage: RaceStage, cancelled: Outcome, reported: Outcome) -> None:
    assert ("installing" in stage.story()) != isinstance(reported, Refused)
    is_cancelled(stage, cancelled, reported)


def cancelled_once(stage: RaceStage, one: Outcome, other: Outcome) -> None:
    assert [one, other].count(None) == 1
    assert stage.story().count("cancelled") == 1


def loan_is_over(stage: RaceStage, reserved: Outcome, ended: Outcome) -> None:
    """The system is free after the loan, whichever actor was first."""
    assert not isinstance(ended, Refused)
    system = stage.system()
    assert (system.loan, system.reservation, system.usage) == (None, None, "idle")
    assert ("reservation-begun" not in stage.story(f"system/{stage.fqdn}")) == isinstance(reserved, Refused)


def lent_or_reserved_before(stage: RaceStage, lent: Outcome, reserved: Outcome) -> None:
    """The system is lent; a reservation stays only if it was made before."""
    assert lent is not None and not isinstance(lent, Refused)
    topics = stage.story(f"system/{stage.fqdn}")
    if isinstance(reserved, Refused):
        assert stage.system().reservation is None
    else:
        assert topics.index("reservation-begun") < topics.index("loaned")


def lent_once(stage: RaceStage, one: Outcome, other: Outcome) -> None:
    refused = [isinstance(outcome, Refused) for outcome in (one, other)]
    assert sorted(refused) == [False, True]
    loan = stage.system().loan
    assert loan is not None
    assert loan.user == ("bob" if refused[0] else "ada")


def reserved_once(stage: RaceStage, one: Outcome, other: Outcome) -> None:
    refused = [isinstance(outcome, Refused) for outcome in (one, other)]
    assert sorted(refused) == [False, True]
    reservation = stage.system().reservation
    assert reservation is not None
    assert reservation.user == ("bob" if refused[0] else "ada")


def has_started(stage: RaceStage, _: Outcome, __: Outcome) -> None:
    """The recipe has its system and its locks, whichever actor was first."""
    assert stage.recipe().started
    assert stage.story()[-1] in ("waiting", "locked")


def never_started(stage: RaceStage, cancelled: Outcome, _: Outcome) -> None:
    """The recipe is cancelled, and never had a system."""
    assert cancelled is not None
    assert stage.story()[-1] == "cancelled" and "scheduled" not in stage.story()


def broken_before_or_after_its_locks(stage: RaceStage, _: Outcome, __: Outcome) -> None:
    """The recipe is aborted if it had its locks, otherwise it is queued."""
    assert stage.recipe().state == ("aborted" if "locked" in stage.story() else "queued")
    assert (stage.system().condition, stage.system().usage) == ("Broken", "idle")


def granted_before_the_rule(stage: RaceStage, changed: Outcome, _: Outcome) -> None:
    """The recipe has a system only if it was granted before the rule."""
    if "scheduled" in stage.story():
        (granted,) = stage.positions(f"recipe/{stage.recipe_id}", "recipe.scheduled")
        assert granted < changed.position
        assert stage.recipe().started
    else:
        assert stage.recipe().state in ("queued", "cancelled")
        assert stage.system().usage == "idle"
