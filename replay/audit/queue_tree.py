"""The queue tree of a partition, read from its configurations, and the maxima of a job in it (design 6.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

Properties = Mapping[str, Any]

ROOT, DEFAULT_QUEUE = "root", "root.default"
FIFO, FAIR = "fifo", "fair"
SYSTEMS, JOBS = "systems", "jobs"

# Only the queues that vanished last keep their maxima.
MAX_VANISHED = 5_000


class QueueTree(NamedTuple):
    """The properties of the queues of the configuration, and of those that it no longer names, by path.

    With `has_turns`, some queue has another order than `fifo`, so that recipes do not stand in one line.
    """

    named: Mapping[str, Properties] = {}
    vanished: Mapping[str, Properties] = {}
    has_turns: bool = False

    def configured(self, section: Mapping[str, Any]) -> QueueTree:
        """Return the tree after a configuration with this section `queues`."""
        named = dict(_flat(section, ROOT))
        before = {**self.vanished, **self.named}
        vanished = [(path, _in_line(each)) for path, each in before.items() if path not in named]
        return QueueTree(named, dict(vanished[-MAX_VANISHED:]), any(map(_has_order, named.values())))

    def properties(self, path: str) -> Properties:
        """Return the properties of a queue; a dynamic one has those of the template of its parent."""
        if path in self.named:
            return self.named[path]
        parent = path.rpartition(".")[0]
        candidates = (
            self.named.get(parent, {}).get("template"),
            self.vanished.get(path),
            self.vanished.get(parent, {}).get("template"),
        )
        return next((each for each in candidates if each is not None), {})


def _in_line(properties: Properties) -> Properties:
    """Return the properties of a vanished queue, which is `fifo`."""
    template = properties.get("template")
    return {**properties, "order": FIFO, "template": template and {**template, "order": FIFO}}


def _has_order(properties: Properties) -> bool:
    """Return whether a queue, or the dynamic queues below it, have another order than `fifo`."""
    template = properties.get("template") or {}
    return any(each.get("order", FIFO) != FIFO for each in (properties, template))


NO_QUEUES = QueueTree()


class Maximum(NamedTuple):
    """A maximum of systems or jobs: of a queue, or of the jobs of one user or group in it."""

    path: str
    unit: str
    whose: str
    capacity: int

    def __str__(self) -> str:
        of = f" of {self.whose}" if self.whose else ""
        return f"max {self.capacity} {self.unit}{of} in queue {self.path}"


def _flat(section: Mapping[str, Any], path: str) -> Iterator[tuple[str, Properties]]:
    yield path, section
    for child in section.get("queues", ()):
        yield from _flat(child, f"{path}.{child['name']}")


def paths_upward(path: str) -> list[str]:
    """Return the path of a queue and those of the queues above it."""
    parts = path.split(".")
    return [".".join(parts[:length]) for length in range(len(parts), 0, -1)]


def maxima(tree: QueueTree, path: str, owner: str, group: str | None) -> Iterator[Maximum]:
    """Yield the maxima of a job in a queue and in all queues above it; the max of root limits nothing."""
    for each in paths_upward(path):
        properties = tree.properties(each)
        limits = {("", ""): properties, **_of_people(properties, owner, group)}
        for (kind, name), limit in limits.items():
            whose = f"{kind} {name}".strip()
            if limit.get("max") is not None and (whose or each != ROOT):
                yield Maximum(each, SYSTEMS, whose, limit["max"])
            if limit.get("max_jobs") is not None:
                yield Maximum(each, JOBS, whose, limit["max_jobs"])


def _of_people(properties: Properties, owner: str, group: str | None) -> dict[tuple[str, str], Properties]:
    found: dict[tuple[str, str], Properties] = {}
    for kind, name in (("user", owner), ("group", group)):
        limits = {limit[kind]: limit for limit in properties.get("limits", ()) if kind in limit}
        limit = None if name is None else limits.get(name) or limits.get("*")
        if name is not None and limit is not None:
            found[kind, name] = limit
    return found


def stopped_queue(tree: QueueTree, path: str) -> str | None:
    """Return the path of a stopped queue on the way up from a queue, None without one."""
    stopped = (each for each in paths_upward(path) if tree.named.get(each, {}).get("state") == "stopped")
    return next(stopped, None)
