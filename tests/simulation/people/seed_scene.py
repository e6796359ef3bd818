"""The scene of a seed: its lab, its users, the behaviour of its machines, and the rate of its faults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from domain.admission.configuration import configuration_to_json, stored_configuration
from domain.directory.changes import put
from domain.directory.events import (
    LabControllerPartitionChanged,
    PartitionConfigured,
    PartitionCreated,
    PoolAccessPolicyChanged,
)
from domain.events import Change, Decided, Stamp
from domain.partition_numbers import DEFAULT_PARTITION, PartitionIdentity, partition_of
from domain.system_admin.registration import register
from replay.simulated_lab.behaviour import Behaviour
from replay.workload.generated_lab import generate_lab
from store.event_log import EventLog
from store.requests import AppendRequest, require_committed
from tests.simulation.machine.chance import Chance
from tests.simulation.machine.loop import BEGINNING
from tests.simulation.service.serving import URL

HOUR = 3600.0
OTHER: Final = PartitionIdentity(2, "other")
"""The second partition of a seed."""
# Kind -> its section in a lab document, and the field with its name.
NAMED = (
    ("user", "users", "name"),
    ("group", "groups", "name"),
    ("lab-controller", "lab_controllers", "fqdn"),
    ("pool", "pools", "name"),
    ("distro-tree", "distro_trees", "id"),
)


@dataclass(frozen=True)
class SeedScene:
    """The properties of a seed, except the times of its events."""

    lab: dict[str, Any]
    # `default`, in half of the seeds also `OTHER`; an admin moves labs between them, and stops them.
    partitions: tuple[PartitionIdentity, ...]
    behaviour: Behaviour
    hours: float
    submitters: int
    jobs_per_hour: float
    acts_per_hour: float
    # The rate of changes of access, and whether pools have policies from the beginning.
    says_per_hour: float
    with_policies: bool
    # Whether jobs declare locks, dependencies and buckets, and an admin changes the rules of admission.
    contended: bool
    # Whether submitters keep some jobs open, and change recipes that wait.
    keeps_open: bool
    # The rate of moves of labs and of changes of states, in a seed of two partitions.
    moves_per_hour: float
    faults_per_hour: float
    # The delay of each statement: the longer, the more other actions happen in between.
    pace: float


def scene_of(chance: Chance, hours: float) -> SeedScene:
    dice = chance.stream("scene")
    move = chance.stream("partitions")
    partitions = (DEFAULT_PARTITION, OTHER)[: move.randint(1, 2)]
    labs = max(len(partitions), dice.choice((1, 1, 2, 2, 3)))
    systems = dice.randint(max(2, labs), 9)
    say = chance.stream("say")
    seed = dice.randrange(1_000_000)
    contended = chance.stream("contention").random() < 0.5

    forget = chance.stream("forget")

    def at_times(percent: float) -> float:
        return dice.choice((0.0, percent / 3, percent))

    behaviour = Behaviour(
        seed=seed,
        trouble_percent=20,
        stall_percent=at_times(8),
        fail_percent=at_times(8),
        break_percent=at_times(8),
        vanish_percent=at_times(6),
        repeat_percent=at_times(25),
        reorder_percent=at_times(25),
        lose_percent=forget.choice((0.0, 10.0, 50.0)),
        intrude_percent=forget.choice((0.0, 10.0, 50.0)),
    )
    return SeedScene(
        lab=generate_lab(seed, labs, systems),
        partitions=partitions,
        behaviour=behaviour,
        hours=hours,
        submitters=dice.randint(1, 3),
        # Contention for systems needs many jobs, too.
        jobs_per_hour=dice.choice((0.5, 1.0, 2.0, 4.0)) * systems / (2 if contended else 4),
        acts_per_hour=dice.choice((0.0, 0.5, 2.0, 8.0)),
        says_per_hour=say.choice((0.0, 0.5, 2.0, 8.0)),
        with_policies=say.random() < 0.5,
        moves_per_hour=move.choice((0.5, 1.0, 4.0)),
        contended=contended,
        keeps_open=chance.stream("open jobs").random() < 0.5,
        faults_per_hour=dice.choice((0.0, 0.5, 1.0, 3.0, 10.0)),
        pace=dice.choice((1.0, 1.0, 20.0, 500.0)),
    )


def begin_log(scene: SeedScene) -> None:
    """Write the lab to the log, so that every seed begins with a complete lab.

    If there is another partition, it has every second lab.
    """
    log = EventLog(URL)
    decided = _laboratory(scene.lab, scene.with_policies)
    _append(log, decided, dict.fromkeys((subject for subject, _ in decided), 0))
    if OTHER in scene.partitions:
        assert log.take_partition_number() == OTHER.number
        names = [each["fqdn"] for each in scene.lab["lab_controllers"][1::2]]
        labs = {f"lab-controller/{name}": _systems_of(scene.lab, name) for name in names}
        configuration = configuration_to_json(stored_configuration({"lab_controllers": names}))
        decided = [
            (OTHER.subject, PartitionCreated(OTHER.number)),
            (OTHER.subject, PartitionConfigured(configuration)),
            *((lab, LabControllerPartitionChanged(OTHER.number, systems)) for lab, systems in labs.items()),
        ]
        _append(log, decided, {OTHER.subject: 0, **dict.fromkeys(labs, 1)})


def _systems_of(lab: dict[str, Any], name: str) -> tuple[str, ...]:
    return tuple(each["fqdn"] for each in lab["systems"] if each["lab_controller"] == name)


def _laboratory(lab: dict[str, Any], with_policies: bool) -> Decided:
    decided: Decided = []
    for kind, section, key in NAMED:
        for each in lab[section]:
            document = {name: each[name] for name in each if name not in (key, "access_policy")}
            (event,) = put(kind, None, document)
            decided.append((f"{kind}/{each[key]}", event))
            if with_policies and "access_policy" in each:
                changed = PoolAccessPolicyChanged(entries=each["access_policy"])
                decided.append((f"{kind}/{each[key]}", changed))
    for system in lab["systems"]:
        decided += register(system)
    return decided


def _append(log: EventLog, decided: Decided, expected: dict[str, int]) -> None:
    stamp = Stamp(BEGINNING, "admin", "request/beginning")
    changes = tuple(Change(subject, event, stamp) for subject, event in decided)
    command_id = f"beginning/{decided[0][0]}"
    (outcome,) = log.append([AppendRequest(command_id, changes, expected, partition=partition_of(expected))])
    require_committed(outcome)
