"""A lab with access policies and jobs on behalf of groups, in the log as requests would have written them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from click.testing import CliRunner

from bench.cases import saturated
from bench.cases.full_lab import fill
from bench.cluster_fixture import bench_cluster
from bench.outcome import CaseOutcome, Sizes, no_progress
from bench.run import CASES
from cli import main
from domain.access.policy import policy_of
from domain.directory.events import PoolAccessPolicyChanged
from domain.job.events import JobSubmitted
from domain.system.events import SystemAccessPolicyChanged

SIZES = Sizes(
    systems=40,
    queued=900,
    filters=100,
    sets=None,
    rate=20,
    seconds=1,
    seed=1,
    pools=6,
    groups=3,
    policies=0.5,
)


@pytest.mark.soak
def test_filling__with_policies__is_in_the_log_and_every_system_is_given_away() -> None:
    with bench_cluster() as made:
        fill(made, SIZES, no_progress)
        figures = saturated.measure(made, SIZES, no_progress)
        events, _ = made.log.select(0, made.log.end(), 100_000, size_bytes=2**30)
    happened = [recorded.event for recorded in events]
    policy_changes = [event for event in happened if isinstance(event, PoolAccessPolicyChanged)]
    assert len(policy_changes) == 3 and all(policy_of(event.entries) for event in policy_changes)
    own = [event for event in happened if isinstance(event, SystemAccessPolicyChanged)]
    assert own and all(policy_of(event.entries) for event in own)
    groups = Counter(event.group for event in happened if isinstance(event, JobSubmitted))
    assert len(groups) == 4 and groups[None]
    assert figures["allocations"] + figures["systems_left_idle"] >= 40


def test_sizes__of_cases_about_policies_or_locks__have_some_where_none_are_asked_for() -> None:
    bare = replace(SIZES, pools=0, groups=0, policies=0.0)
    given = replace(SIZES, locks=2, profiles=3)
    for name, case in CASES.items():
        assert (case.sized(bare) != bare) == (name in ("explanation", "change", "locks"))
        assert case.sized(given) == given


def test_sizes__with_policies__are_recorded() -> None:
    sizes = CaseOutcome("pending", SIZES, {}).document()["sizes"]
    assert (sizes["pools"], sizes["groups"], sizes["policies"]) == (6, 3, 0.5)


@pytest.mark.parametrize("given", [("--policies", "0.5"), ("--groups", "2")])
def test_bench__policies_of_no_pools__is_wrong_usage(given: tuple[str, ...]) -> None:
    refused = CliRunner().invoke(main, ["bench", "pending", *given])
    assert refused.exit_code == 2 and "--pools" in refused.stderr


def test_bench__policies_that_are_no_share__is_wrong_usage() -> None:
    for given in ("nan", "1.5", "-1"):
        refused = CliRunner().invoke(main, ["bench", "pending", "--pools", "3", "--policies", given])
        assert refused.exit_code == 2
