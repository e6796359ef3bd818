"""Who may have a thousand systems changes, and then what a thousand others are: until all of that is decided.

Both thousands stand idle before a queue that would have them: of the one nobody who waits may, the other has
more memory than any filter allows for. Everything else works. One access policy of a pool opens the first,
one import says what the others really have.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from api.client import Client
from bench.cases.full_lab import Document, enable, fill_with, made_up
from bench.cluster_fixture import Stand
from bench.measurements import SQL, span_of
from bench.outcome import Figures, Sizes
from bench.progress import Told
from bench.settling import settle, take_turn

MOST_CHANGED: Final = 1_000
# Of all systems, the part that each of the two takes at most.
PART: Final = 4
POOL, NOBODY = "bench-set-aside", "bench-nobody"
NOBODYS: Final = {"permission": "submit", "user": NOBODY, "maximum_effective_priority": "Urgent"}
EVERYBODYS: Final = {"permission": "submit", "everybody": True, "maximum_effective_priority": "Urgent"}
# Filters allow for a fifth of a terabyte more than some system has.
FAR_TOO_MUCH_MB: Final = 2_000_000_000


def prepare(stand: Stand, sizes: Sizes, told: Told) -> None:
    altered = partial(set_aside, count=changed(sizes))
    fill_with(
        stand, sizes, told, range(1, (sizes.sets or 1) + 1), sizes.systems + sizes.queued, altered=altered
    )


def changed(sizes: Sizes) -> int:
    """How many systems each change is about."""
    return min(MOST_CHANGED, max(1, sizes.systems // PART))


def set_aside(lab: Document, count: int) -> Document:
    """The first so many systems in a pool of nobody's, and as many more with too much memory."""
    pool = {"name": POOL, "owner_group": None, "access_policy": [NOBODYS]}
    systems = [
        *({**_without_policy(system), "pools": [POOL]} for system in lab["systems"][:count]),
        *({**system, "memory_mb": FAR_TOO_MUCH_MB} for system in lab["systems"][count : 2 * count]),
        *lab["systems"][2 * count :],
    ]
    users = [*lab["users"], {"name": NOBODY}]
    return {**lab, "users": users, "pools": [*lab["pools"], pool], "systems": systems}


def _without_policy(system: Document) -> Document:
    return {name: value for name, value in system.items() if name != "access_policy"}


def measure(stand: Stand, sizes: Sizes, told: Told) -> Figures:
    """From the commit of each change until all is decided that follows: a job that is submitted when the
    change is answered is looked at in its turn, after that.
    """
    enable(stand)
    really = made_up(sizes)["systems"][changed(sizes) : 2 * changed(sizes)]
    memory = [{"fqdn": system["fqdn"], "memory_mb": system["memory_mb"]} for system in really]
    return {
        "systems_changed": changed(sizes),
        **_worked_off(stand, "policy", _open_pool),
        **_worked_off(stand, "inventory", lambda client: client.post("/inventory", {"systems": memory})),
    }


def _open_pool(client: Client) -> None:
    client.put(client.path("pools", POOL, "access-policy"), {"entries": [EVERYBODYS]})


def _worked_off(stand: Stand, name: str, change: Callable[[Client], object]) -> Figures:
    before = stand.log.end()
    with stand.client() as client:
        change(client)
    recipe = take_turn(stand)[-1]
    settle(stand)
    asked = {"after": before, "subject": recipe}
    ((seconds,),) = stand.log.rows(SQL["worked_off"], asked)
    given_away = span_of(stand.log, "system.scheduled", before)
    if not given_away.events:
        raise ValueError(f"{name}: nobody who waits took any of the systems that changed")
    return {
        f"{name}_systems_given_away": given_away.subjects,
        f"{name}_last_given_away_seconds": round(given_away.seconds, 3),
        f"{name}_seconds": round(seconds, 3),
    }
