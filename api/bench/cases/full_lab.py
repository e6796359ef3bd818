"""How most cases begin: a lab, a queue deeper than it, and every system given away."""

from __future__ import annotations

import time

from api.bench.filling import Filling, Told
from api.bench.outcome import Sizes
from api.bench.stand import Stand
from replay.generated_lab import generate_lab
from replay.generated_queue import all_at_work, generate_filters, generate_sets

LABS = 4
SETTLED_SECONDS = 1.0
# Longer nothing may take: then something is wrong.
PATIENCE_SECONDS = 900.0


def fill(stand: Stand, sizes: Sizes, told: Told) -> list[str]:
    """Everybody waits in front of labs that are disabled, whose names are returned; all processes run."""
    lab = all_at_work(generate_lab(sizes.seed, LABS, sizes.systems))
    controllers = [{**each, "enabled": False} for each in lab["lab_controllers"]]
    stand.start("serve")
    filling = Filling(stand, told)
    filling.lab({**lab, "lab_controllers": controllers})
    filters = generate_filters(lab, sizes.seed, sizes.filters)
    sets = generate_sets(filters, sizes.seed, range(1, sizes.sets + 1))
    filling.queue(sets, sizes.queued)
    stand.start("scheduler", "projector")
    settle(stand)
    wait_for_projectors(stand)
    return [each["fqdn"] for each in controllers]


def enable(stand: Stand, lab_controllers: list[str]) -> int:
    """All systems are to be had at once, and are given away; the position before."""
    before = stand.log.end()
    with stand.client() as client:
        for name in lab_controllers:
            client.patch(client.path("lab-controllers", name), {"enabled": True})
    settle(stand)
    return before


def settle(stand: Stand) -> None:
    """Wait until nothing is decided any more."""
    end, since, deadline = stand.log.end(), time.monotonic(), time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() - since < SETTLED_SECONDS or not _has_lease(stand):
        if time.monotonic() > deadline:
            raise TimeoutError("the scheduler does not come to rest")
        time.sleep(0.05)
        if stand.log.end() != end:
            end, since = stand.log.end(), time.monotonic()


def wait_for_projectors(stand: Stand) -> float:
    """The seconds until the read models show the end of the log."""
    began, end = time.monotonic(), stand.log.end()
    with stand.client() as client:
        while True:
            answer = client.get("/queue", limit=1)
            if answer["position"] >= end:
                return time.monotonic() - began
            if time.monotonic() - began > PATIENCE_SECONDS:
                raise TimeoutError("the projector does not catch up")
            time.sleep(0.05)


def _has_lease(stand: Stand) -> bool:
    """A scheduler that still folds the log has decided nothing yet."""
    ((newest,),) = stand.log.rows(b"SELECT count(*) FROM log.leases", ())
    return bool(newest)
