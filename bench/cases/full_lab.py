"""How most cases begin: a lab, a queue deeper than it, and every system given away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from bench.cluster_fixture import Stand
from bench.filling import Filling
from bench.outcome import Sizes
from bench.progress import Told
from bench.settling import settle, wait_for_projectors
from replay.workload.generated_access import with_access, without_policies
from replay.workload.generated_lab import generate_lab
from replay.workload.generated_queue import all_at_work, generate_filters, generate_sets

LABS = 4
POOLS, GROUPS, POLICIES = 50, 20, 0.5

Document = dict[str, Any]


def made_up(sizes: Sizes) -> Document:
    """A lab in which every system works, and who may have what is as wanted."""
    lab = all_at_work(generate_lab(sizes.seed, LABS, sizes.systems))
    if not sizes.pools:
        return without_policies(lab)
    return with_access(lab, sizes.seed, sizes.pools, sizes.groups, sizes.policies)


def ruled(sizes: Sizes) -> Sizes:
    """With pools, groups and policies, if none are asked for."""
    return sizes if sizes.pools else replace(sizes, pools=POOLS, groups=GROUPS, policies=POLICIES)


def unaltered(lab: Document) -> Document:
    return lab


def fill(stand: Stand, sizes: Sizes, told: Told) -> None:
    """Everybody waits in front of labs that are disabled; all processes run."""
    _fill(stand, sizes, told, sizes.queued)


def fill_behind(stand: Stand, sizes: Sizes, told: Told) -> None:
    """The same, so that as many still wait when every system is given away."""
    _fill(stand, sizes, told, sizes.systems + sizes.queued)


def _fill(stand: Stand, sizes: Sizes, told: Told, recipes: int) -> None:
    fill_with(stand, sizes, told, range(1, (sizes.sets or 1) + 1), recipes)


def fill_with(
    stand: Stand,
    sizes: Sizes,
    told: Told,
    in_a_set: Sequence[int],
    recipes: int,
    priority: str | None = None,
    altered: Callable[[Document], Document] = unaltered,
) -> None:
    """The same with another queue. In place of the lab that the queue asks for there is an `altered` one."""
    lab = made_up(sizes)
    controllers = [{**each, "enabled": False} for each in lab["lab_controllers"]]
    # They take in what comes while more is made.
    stand.start("serve", "scheduler", "projector")
    filling = Filling(stand, told)
    filling.lab({**altered(lab), "lab_controllers": controllers})
    queue(filling, lab, sizes, in_a_set, recipes, priority)
    settle(stand)
    wait_for_projectors(stand)


def queue(
    filling: Filling,
    lab: Document,
    sizes: Sizes,
    in_a_set: Sequence[int],
    recipes: int,
    priority: str | None = None,
) -> None:
    """So many recipes, in sets of so many."""
    filters = generate_filters(lab, sizes.seed, sizes.filters)
    filling.queue(generate_sets(filters, sizes.seed, in_a_set, priority), recipes)


def enable(stand: Stand) -> int:
    """All systems are to be had at once, and are given away; the position before."""
    before = stand.log.end()
    with stand.client() as client:
        for each in client.pages("/lab-controllers", "lab_controllers")["lab_controllers"]:
            client.patch(client.path("lab-controllers", each["fqdn"]), {"enabled": True})
    settle(stand)
    return before
