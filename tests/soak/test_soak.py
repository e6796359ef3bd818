"""Random faults on real processes under load: no acknowledged data is lost or duplicated, and all recover.

No process without the lease writes. LABLEDGER_FAULTS is the number of faults (default: 20), LABLEDGER_SEED
repeats a run.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import SystemRandom

import pytest

from tests.soak.log_history import LogHistory
from tests.soak.site import SoakSite, site
from tests.soak.soak import CONTENTION, Soak

FAULTS = int(os.environ.get("LABLEDGER_FAULTS", "20"))
SEED = int(os.environ.get("LABLEDGER_SEED") or SystemRandom().randrange(10**6))


@pytest.fixture
def folder() -> Iterator[Path]:
    """Yield a folder that every user may enter; it stays when the test fails, for its logs."""
    made = Path(tempfile.mkdtemp(prefix="labledger-soak-"))
    made.chmod(0o755)
    yield made
    if not (made / "failed").exists():
        shutil.rmtree(made)


@pytest.mark.soak
def test_two_machines__faults_at_random_moments__come_back_and_lose_nothing(folder: Path) -> None:
    (folder / "failed").touch()
    with site(folder, SEED) as there:
        soak = Soak(there, FAULTS)
        try:
            history = soak.run()
            _verified(there)
            _seen_as_it_is(soak, history)
        finally:
            print("", *soak.figures(), sep="\n")
    (folder / "failed").unlink()
    print(
        f"{history.end} events, {history.acknowledged} acknowledged facts found in them,"
        f" {len(there.book.jobs)} jobs each once, {there.book.repeated} requests repeated under their keys,"
        f" epochs {dict(history.epochs)} and grants {dict(history.grants)} by partition,"
        f" {len(history.queues)} queues; "
        + ", ".join(f"{history.count(topic)} {topic}" for topic in CONTENTION)
    )


def _verified(there: SoakSite) -> None:
    for command in (("replay", "verify"), ("replay", "rebuild", "--check")):
        done = there.labledger(*command)
        print(done.stdout)
        assert done.returncode == 0, done.stdout + done.stderr


def _seen_as_it_is(soak: Soak, history: LogHistory) -> None:
    """Check that the watcher saw each position once, with its present content."""
    places = {number: (place[0], place[2]) for number, place in enumerate(history.places, start=1)}
    seen = {number: what for number, what in soak.seen.items() if number <= history.end}
    assert seen == places
