"""Explore a family of small labs: `python -m tests.model_check --family two-sets`.

The command prints the number of labs and states, and the shortest history to the first violation.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator

from tests.model_check.explore import Exploration, story
from tests.model_check.families import FAMILIES
from tests.model_check.parallel import explore_one, run_parallel, walk_one
from tests.model_check.removed_parts import ALL_PARTS

PROGRESS_SECONDS = 5.0


def main(arguments: list[str]) -> int:
    asked = _parser().parse_args(arguments)
    if asked.family is None and asked.without is not None:
        return _without(asked.without)
    families = [asked.family] if asked.family else [*FAMILIES, "walks"]
    return max(_family(name, asked) for name in families)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.model_check", description=__doc__)
    about = "; ".join(f"{family.name}: {family.about}" for family in FAMILIES.values())
    parser.add_argument(
        "--family", choices=[*FAMILIES, "walks"], help=f"{about}; walks: larger labs by chance"
    )
    parser.add_argument("--sample", type=int, help="number of labs to choose at random")
    parser.add_argument("--seed", type=int, default=1, help="seed of samples and walks (default: 1)")
    parser.add_argument(
        "--without", choices=ALL_PARTS, metavar="PART", help="take out: " + "; ".join(ALL_PARTS)
    )
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    return parser


def _without(name: str) -> int:
    """Explore the case that needs a part, without the part."""
    part = ALL_PARTS[name]
    found = part.without()
    return _report(f"without {name}", found, None if found.violation is None else story(found.violation))


def _family(name: str, asked: argparse.Namespace) -> int:
    began = shown = time.monotonic()
    together, text = Exploration(), None
    for found, text in _results(name, asked):
        together.add(found)
        if text is not None:
            break
        if time.monotonic() - shown > PROGRESS_SECONDS:
            shown = time.monotonic()
            print(f"{name}: {together.labs} labs, {together.states} states so far", flush=True)
    status = _report(name, together, text)
    print(f"{name}: {time.monotonic() - began:.0f} s, seed {asked.seed}", flush=True)
    return status


def _results(name: str, asked: argparse.Namespace) -> Iterator[tuple[Exploration, str | None]]:
    if name == "walks":
        seeds = range(asked.seed, asked.seed + (asked.sample or 1_000))
        return run_parallel(walk_one, seeds, asked.processes, asked.without)
    tasks = FAMILIES[name].sample(asked.sample or sys.maxsize, asked.seed)
    return run_parallel(explore_one, tasks, asked.processes, asked.without)


def _report(name: str, found: Exploration, text: str | None) -> int:
    print(f"{name}: {found.labs} labs, {found.states} states, {found.steps} steps", flush=True)
    if text is None:
        return 0
    print(text, flush=True)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
