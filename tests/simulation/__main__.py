"""Run seeds: `python -m tests.simulation --seed 7` prints the story of one, `--seeds 1000` runs many.

A seed that fails is printed with its findings and the command that repeats it.
"""

from __future__ import annotations

import argparse
import os
import sys
import time

from tests.simulation.parallel_runs import run_seeds, shrunk
from tests.simulation.people.faults import FAULTS
from tests.simulation.seed import HOURS, SeedOptions, SeedOutcome, run_seed

SHOWN = 3


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    without = frozenset(options.without)
    if options.seed is not None:
        return _one(SeedOptions(options.seed, options.hours, without), options.shrink)
    return _many(range(options.first, options.first + options.seeds), options, without)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--seed", type=int, help="run this seed and print its story")
    which.add_argument("--seeds", type=_count, help="number of seeds to run, beginning at --first")
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--hours", type=float, default=HOURS, help="hours with faults (default: %(default)g)")
    parser.add_argument(
        "--without", action="append", default=[], choices=list(FAULTS), help="leave out this kind of fault"
    )
    parser.add_argument("--shrink", action="store_true", help="look for a smaller run that fails as well")
    parser.add_argument("--processes", type=_count, default=os.cpu_count() or 1)
    return parser


def _count(text: str) -> int:
    if (count := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"{count} is less than one")
    return count


def _one(options: SeedOptions, shrink: bool) -> int:
    outcome = run_seed(options, with_story=True)
    print("\n".join(outcome.story))
    print(summary(outcome))
    if shrink and not outcome.findings:
        print("it does not fail, so there is nothing to shrink")
    elif shrink:
        less = shrunk(outcome)
        print(f"fails as well: {less.options.command}\n{summary(less)}")
    return 1 if outcome.findings else 0


def _many(seeds: range, options: argparse.Namespace, without: frozenset[str]) -> int:
    began, failed, simulated, events, decisions = time.monotonic(), 0, 0.0, 0, 0
    for outcome in run_seeds(
        [SeedOptions(seed, options.hours, without) for seed in seeds], options.processes
    ):
        simulated += outcome.seconds
        events += outcome.events
        decisions += outcome.decisions
        if outcome.findings:
            failed += 1
            print(summary(outcome), flush=True)
    took = time.monotonic() - began
    print(
        f"{len(seeds)} seeds, {failed or 'none'} failed: {simulated / 86_400:.0f} days of lab time"
        f" in {took:.0f} s, {events} events, {decisions} decisions"
    )
    return 1 if failed else 0


def summary(outcome: SeedOutcome) -> str:
    """Return the figures of a seed, its findings, and the command that repeats it."""
    head = (
        f"seed {outcome.options.seed}: {outcome.seconds / 3600:.0f} hours of lab time, {outcome.jobs} jobs,"
        f" {outcome.events} events, {outcome.decisions} decisions,"
        f" {outcome.acknowledged} commits acknowledged, digest {outcome.digest[:16]}"
    )
    if not outcome.findings:
        return f"{head}\nnothing is wrong"
    lines = [head]
    lines += outcome.findings[:SHOWN]
    if more := len(outcome.findings) - SHOWN:
        lines += [f"and {more} more findings"] if more > 0 else []
    return "\n".join([*lines, f"to repeat it: {outcome.options.command}"])


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
