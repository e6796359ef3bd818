"""The report of a run: the records of all its processes, merged and checked against the declared order."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.harness.locks.recorder import seconds_of

MAX_TESTS = 3


@dataclass(frozen=True)
class Seen:
    """A place and a test in which something was seen, and how: by the process, a statement, or pg_locks."""

    source: str
    test: str
    place: str

    def __str__(self) -> str:
        return f"{self.place} ({self.source}) in {self.test or 'no test'}"


@dataclass
class HoldTimes:
    count: int = 0
    total_seconds: float = 0.0
    max_seconds: float = 0.0
    buckets: Counter[int] = field(default_factory=Counter)

    def quantile(self, share: float) -> float:
        """Return an upper bound of a quantile."""
        remaining = share * self.count
        for number in sorted(self.buckets):
            remaining -= self.buckets[number]
            if remaining <= 0:
                return min(seconds_of(number), self.max_seconds)
        return self.max_seconds


@dataclass
class Records:
    """Nestings, iterations and hold times of all processes, by the names of the classes."""

    nestings: dict[tuple[str, str], list[Seen]] = field(default_factory=lambda: defaultdict(list))
    beside: dict[tuple[str, str], list[Seen]] = field(default_factory=lambda: defaultdict(list))
    iterations: dict[str, list[Seen]] = field(default_factory=lambda: defaultdict(list))
    holds: dict[str, HoldTimes] = field(default_factory=lambda: defaultdict(HoldTimes))
    processes: int = 0


def read(folder: Path) -> Records:
    """Return the merged records of a folder. The last line of a killed process may be incomplete."""
    records = Records()
    for file in sorted(folder.glob("*.jsonl")):
        records.processes += 1
        for line in file.read_text("utf-8").splitlines():
            try:
                kind, *rest = json.loads(line)
            except ValueError:
                continue
            _add(records, kind, rest)
    return records


def _add(records: Records, kind: str, rest: list[object]) -> None:
    if kind == "hold":
        name, count, total, longest, buckets = rest
        times = records.holds[str(name)]
        times.count += count  # type: ignore[operator]
        times.total_seconds += total  # type: ignore[operator]
        times.max_seconds = max(times.max_seconds, longest)  # type: ignore[call-overload]
        times.buckets.update({int(number): each for number, each in buckets.items()})  # type: ignore[attr-defined]
        return
    outer, inner, source, test, place = map(str, rest)
    seen = Seen(source, test, place)
    if kind == "iteration":
        records.iterations[outer].append(seen)
    else:
        (records.nestings if kind == "nesting" else records.beside)[outer, inner].append(seen)


def findings(records: Records, order: Sequence[str]) -> list[str]:
    """Return the cycles, the nestings against the declared order and the iterations, with their places."""
    rank = {name: number for number, name in enumerate(order)}
    found: list[str] = []
    for cycle in cycles(records.nestings):
        pairs = [*zip(cycle, [*cycle[1:], cycle[0]], strict=True)]
        places = [line for pair in pairs for line in _places(" > ".join(pair), records.nestings[pair])]
        found.append("\n".join([f"cycle of locks: {' > '.join([*cycle, cycle[0]])}", *places]))
    for (outer, inner), seen in sorted(records.nestings.items()):
        if rank.get(outer, -1) >= rank.get(inner, -1):
            why = "a second lock of the class" if outer == inner else "against the declared order"
            found.append("\n".join([f"{inner} is taken inside of {outer}: {why}", *_places("", seen)]))
    for name, seen in sorted(records.iterations.items()):
        heading = f"iteration over a shared collection of {name} under its lock"
        found.append("\n".join([heading, *_places("", seen)]))
    return found


def cycles(edges: dict[tuple[str, str], list[Seen]]) -> list[list[str]]:
    """Return a shortest cycle through each nesting that is part of one, each cycle once."""
    after: dict[str, list[str]] = defaultdict(list)
    for outer, inner in sorted(edges):
        after[outer].append(inner)
    found: dict[frozenset[str], list[str]] = {}
    for outer, inner in sorted(edges):
        path = _path(after, inner, outer)
        if path is not None and outer != inner:
            found.setdefault(frozenset(path), path)
    return [*found.values()]


def _path(after: dict[str, list[str]], start: str, end: str) -> list[str] | None:
    paths, visited = [[start]], {start}
    for path in paths:
        if path[-1] == end:
            return path
        for name in after[path[-1]]:
            if name not in visited:
                visited.add(name)
                paths.append([*path, name])
    return None


def _places(heading: str, seen: list[Seen]) -> list[str]:
    shown = [f"  {heading} {one}".replace("   ", "  ") for one in seen[:MAX_TESTS]]
    return shown + [f"  and {len(seen) - MAX_TESTS} more"] * (len(seen) > MAX_TESTS)


def tables(records: Records, order: Sequence[str]) -> Iterator[str]:
    """Yield the lines with the nestings and the hold times by class."""
    yield f"Recorded by {records.processes} processes."
    yield ""
    yield f"{'held':<18} {'taken inside':<18} {'tests':>6}  seen by"
    for (outer, inner), seen in sorted(records.nestings.items(), key=lambda each: _ranks(each[0], order)):
        tests, sources = {one.test for one in seen}, sorted({one.source for one in seen})
        yield f"{outer:<18} {inner:<18} {len(tests):>6}  {', '.join(sources)}"
    for one, other in sorted(records.beside):
        if not {(one, other), (other, one)} & records.nestings.keys():
            yield f"{one} and {other} were held by one session; their order was not seen"
    yield ""
    yield f"{'class':<18} {'holds':>9} {'mean ms':>9} {'p99 ms':>9} {'max ms':>9}"
    for name in sorted(records.holds, key=lambda each: _ranks((each,), order)):
        times = records.holds[name]
        values = (times.total_seconds / times.count, times.quantile(0.99), times.max_seconds)
        yield f"{name:<18} {times.count:>9} {' '.join(f'{each * 1e3:>9.3f}' for each in values)}"


def _ranks(names: Sequence[str], order: Sequence[str]) -> tuple[int, ...]:
    return tuple(order.index(name) if name in order else -1 for name in names)
