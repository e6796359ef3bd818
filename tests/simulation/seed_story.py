"""The story of a seed: lines with simulated times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from domain.events import Recorded
from tests.simulation.machine.loop import SimulatedLoop

# The fields of an event that are shown.
SHOWN = ("system", "lab_controller", "reason", "priority", "condition", "recipe_id", "state", "whiteboard")
MAX_EVENTS = 6


class SeedStory:
    """Collects lines, and formats them on request."""

    def __init__(self, loop: SimulatedLoop) -> None:
        self._loop = loop
        self._output: list[tuple[float, str, str | Sequence[Recorded]]] = []

    def tell(self, who: str, what: str) -> None:
        self._output.append((self._loop.seconds, who, what))

    def commit(self, commit: Sequence[Recorded]) -> None:
        self._output.append((self._loop.seconds, "log", commit))

    def lines(self) -> Iterator[str]:
        for seconds, who, what in self._output:
            for text in [what] if isinstance(what, str) else _events(what):
                yield f"{moment(seconds)}  {who:<14} {text}"


def moment(seconds: float) -> str:
    """Return day, hour, minute and second since the beginning."""
    days, rest = divmod(seconds, 86_400)
    hours, rest = divmod(rest, 3600)
    minutes, left = divmod(rest, 60)
    return f"{int(days)}d {int(hours):02}:{int(minutes):02}:{left:06.3f}"


def _events(commit: Sequence[Recorded]) -> Iterator[str]:
    first = commit[0]
    epoch = (
        f" epoch {first.stamp.basis.epoch} basis {first.stamp.basis.position}" if first.stamp.basis else ""
    )
    yield f"{first.position}-{first.commit_end} by {first.stamp.actor}, {first.stamp.cause}{epoch}"
    for recorded in commit[:MAX_EVENTS]:
        fields = vars(recorded.event)
        said = " ".join(f"{name}={fields[name]}" for name in SHOWN if fields.get(name) not in (None, ""))
        yield f"  {recorded.position:>6} {recorded.event.TOPIC} {recorded.subject} {said}".rstrip()
    if len(commit) > MAX_EVENTS:
        yield f"         and {len(commit) - MAX_EVENTS} more"
