"""A log with events of several actors, and the rows of `actor_parts` that it should have."""

from __future__ import annotations

from random import Random

from domain.directory.events import PoolRegistered
from domain.events import Recorded
from domain.job.events import JobKeyUsed
from domain.recipe.events import WatchdogSet
from postgres.log_parts import PART_POSITIONS
from tests.harness.sessions import Owner
from tests.projections.happened import lab, registered
from tests.projections.projected_log import ProjectedLog
from tests.projections.random_history import LABS, POOLS, anything
from tests.projections.recipe_lives import lives

SYSTEMS = tuple("abcdef")
# Most events are by the first two, some commits by the third; the fourth has one event in the middle of the
# log, and the fifth only events that no other table has.
SCHEDULER, LAB, PERSON, RARE, WATCHER = ACTORS = ("scheduler", "east", "ada", "rare", "watcher")


def write_log(models: ProjectedLog, dice: Random, recipes: int = 200) -> None:
    """Append some parts of events by several actors, each commit by one."""
    models.write(*(lab(name) for name in LABS), *((f"pool/{name}", PoolRegistered(None)) for name in POOLS))
    models.write(*(registered(fqdn) for fqdn in SYSTEMS), actor=PERSON)
    for number, commit in enumerate(lives(dice, recipes)):
        models.write(*commit, actor=SCHEDULER if dice.random() < 0.7 else LAB)
        if dice.random() < 0.2:
            models.write(*anything(dice, SYSTEMS), actor=PERSON if dice.random() < 0.1 else SCHEDULER)
        if number == 500:
            models.write(("pool/big", PoolRegistered(None)), actor=RARE)
        if number in (300, 301, 1_000):
            event = WatchdogSet(60) if number != 301 else JobKeyUsed(1)
            models.write((f"recipe/{number}" if number != 301 else "job-key/ada/x", event), actor=WATCHER)


def project(models: ProjectedLog, dice: Random, upto: int) -> None:
    """Fold whole commits up to a position, in pages of random lengths."""
    events, page = models.unread(), list[Recorded]()
    for recorded in events:
        page.append(recorded)
        is_last = recorded.commit_end >= upto
        if recorded.position == recorded.commit_end and (is_last or dice.random() < 0.02):
            models.project(page)
            page = []
            if is_last:
                return


def rows(owner: Owner) -> dict[tuple[str, int], int]:
    found = owner.execute("SELECT actor, part, since_position FROM read.actor_parts").fetchall()
    return {(actor, part): since for actor, part, since in found}


def expected_rows(whole: list[Recorded]) -> dict[tuple[str, int], int]:
    firsts = ((each.stamp.actor, each.position // PART_POSITIONS, each.position) for each in reversed(whole))
    return {(actor, part): position for actor, part, position in firsts}
