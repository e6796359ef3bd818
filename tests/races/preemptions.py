"""Races about preemption: a change of the victim or of the taking set against the decision."""

from __future__ import annotations

from collections.abc import Mapping

from api.use_cases.change_partition import configure_partition
from domain.admission.configuration import stored_configuration
from domain.directory.partitions import DEFAULT
from domain.errors import Refused
from tests.races import actors as acting
from tests.races.conditions import Outcome
from tests.races.race import Race
from tests.races.stage import RaceStage

URGENT = "root.urgent"
CONFIGURATION = stored_configuration(
    {
        "queues": {"queues": [{"name": "default"}, {"name": "urgent", "guaranteed": 1}]},
        "preemption": {"enabled": True, "after_seconds": 0, "again_after_seconds": 0},
    }
)


def _to_preempt(stage: RaceStage) -> None:
    """Queue a set that preempts the recipe on the system at the next run of the consistency loop."""
    stage.scene.api.ask(
        lambda services, request: configure_partition(services, request, DEFAULT, CONFIGURATION)
    )
    stage.add_system()
    stage.submit(preemptible=True)
    stage.settle()
    stage.run(to_the_end=False)
    stage.holder_id, stage.set_id_of_holder = stage.recipe_id, stage.recipe_set_id
    stage.submit(queue=URGENT)
    stage.settle()
    stage.scene.scheduler.loop.is_demanded = True


def _taken_from_the_victim_or_after_its_end(stage: RaceStage, ended: Outcome, _: Outcome) -> None:
    """The taking set has the system; the victim has ended before, or waits for its next attempt."""
    assert stage.recipe().started
    assert stage.system().recipe_id == stage.recipe_id
    story = stage.story(f"recipe/{stage.holder_id}")
    assert story[-1] == ("queued" if isinstance(ended, Refused) else "completed")


def _cancelled_before_or_after(stage: RaceStage, cancelled: Outcome, _: Outcome) -> None:
    """The taking set is cancelled; the victim has the system again, or never lost it."""
    assert cancelled is not None
    assert stage.story()[-1] == "cancelled"
    stage.settle()
    assert stage.system().recipe_id == stage.holder_id


PREEMPTION_RACES: Mapping[str, Race] = {
    "end, preemption of its set": Race(
        _to_preempt, acting.holder_ends, None, _taken_from_the_victim_or_after_its_end
    ),
    "cancel, preemption by its set": Race(_to_preempt, acting.cancel, None, _cancelled_before_or_after),
}

FREQUENT_PREEMPTION_RACES = ("end, preemption of its set",)
