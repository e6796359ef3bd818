"""Histories in which the owner of a job matters: policies, groups and loans change between commits.

The scheduler did not decide by them, so such a history has violations; it serves for queries.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from random import Random

from domain.access.policy import Form
from domain.events import data_of
from domain.priority import Priority
from replay.audit.record import Commit, EventRecord, commits, from_recorded
from tests.domain.scheduling import policies
from tests.domain.scheduling.history import live
from tests.replay.audit import access_events as entitled
from tests.replay.audit.moves import Pair

PEOPLE = ("ada", "bob", "eve")
GROUPS = ("qe", "dev")
POOLS = ("net", "gpu")
# Space for the positions between two commits.
STEP = 1_000


@cache
def lived(seed: int) -> list[Commit]:
    """Return the history of a seed; every second one has people with different rights."""
    history = list(commits(from_recorded(live(seed, bursts=40, limit=3).log)))
    return with_people(history, seed) if seed % 2 else history


def with_people(history: list[Commit], seed: int) -> list[Commit]:
    chance = Random(seed)
    owners: dict[int, tuple[str, str | None]] = {}
    peopled = []
    for commit in history:
        records = tuple(_of_somebody(chance, record, owners) for record in commit.records)
        peopled.append(Commit(records))
        systems = [record.name for record in records if record.topic == "system.registered"]
        pairs = [act for fqdn in systems for act in _begins(chance, fqdn)]
        while chance.random() < 0.3:
            pairs.append(_act(chance, _systems(peopled)))
        peopled += _apart(pairs, records[-1].position)
    return peopled


def _of_somebody(
    chance: Random, record: EventRecord, owners: dict[int, tuple[str, str | None]]
) -> EventRecord:
    places = {"position": STEP * record.position, "commit_end": STEP * record.commit_end}
    if record.topic != "recipe.new":
        return record._replace(**places)
    whose = chance.choice(PEOPLE), chance.choice((None, *GROUPS))
    owner, group = owners.setdefault(record.data["recipe_set_id"], whose)
    return record._replace(**places, data={**record.data, "owner": owner, "group": group})


def _systems(history: list[Commit]) -> list[str]:
    return [
        record.name for commit in history for record in commit.records if record.topic == "system.registered"
    ]


def _begins(chance: Random, fqdn: str) -> Iterator[Pair]:
    yield entitled.owned_by(fqdn, chance.choice(PEOPLE))


def _act(chance: Random, systems: list[str]) -> Pair:
    group, pool, user = chance.choice(GROUPS), chance.choice(POOLS), chance.choice(PEOPLE)
    acts = [
        entitled.pool_policy(pool, *_entries(chance)),
        entitled.pool_policy(pool, *_entries(chance)),
        entitled.pool_removed(pool),
        entitled.group_is_now(group, *chance.sample(PEOPLE, chance.randrange(4))),
        entitled.group_is_now(group, *chance.sample(PEOPLE, chance.randrange(4)), owners=[user]),
        entitled.group_removed(group),
    ]
    if systems:
        fqdn = chance.choice(systems)
        acts += [
            entitled.own_policy(fqdn, *_entries(chance)),
            entitled.own_policy(fqdn, *_entries(chance)),
            entitled.lent(fqdn, user),
            entitled.given_back(fqdn),
            entitled.given_back(fqdn),
            entitled.owned_by(fqdn, user),
        ]
    return chance.choice(acts)


def _entries(chance: Random) -> Iterator[Form]:
    for _ in range(chance.randrange(4)):
        maximum = chance.choice(list(Priority)).name
        yield chance.choice(
            (
                policies.group(chance.choice(GROUPS), maximum),
                policies.user(chance.choice(PEOPLE), maximum),
                policies.everybody(maximum),
                {"permission": "view", "everybody": True},
            )
        )


def _apart(pairs: list[Pair], after: int) -> Iterator[Commit]:
    for offset, (subject, event) in enumerate(pairs, 1):
        kind, _, name = subject.partition("/")
        position = after + offset
        yield Commit(
            (EventRecord(position, position, kind, name, 1, event.TOPIC, data_of(event), "ada", "request/1"),)
        )
