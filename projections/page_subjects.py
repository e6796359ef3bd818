"""The subjects of a page of events, which determine the rows that its fold needs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from domain.directory import events as directory_events
from domain.events import Event, Recorded, split_subject
from domain.system.events import SystemLabControllerChanged, SystemRegistered

# Kinds of subjects with tables of their own; all others are documents.
_KINDS_WITH_TABLES = frozenset(("job", "recipe-set", "recipe", "system", "command"))

SERVING_CHANGES = (
    directory_events.LabControllerRegistered,
    directory_events.LabControllerEnabled,
    directory_events.LabControllerDisabled,
    directory_events.LabControllerSilent,
    directory_events.LabControllerHeard,
)
"""Events that may add all idle systems of a lab to the idle pool, or remove them."""


class PageSubjects:
    """The subjects of a page, by kind, with further subjects that its events mention."""

    def __init__(self, page: Sequence[Recorded]) -> None:
        self._names: dict[str, dict[str, None]] = defaultdict(dict)
        self._new: set[tuple[str, str]] = set()
        self._serving_labs: dict[str, None] = {}
        for recorded in page:
            kind, name = split_subject(recorded.subject)
            self._names[kind][name] = None
            if recorded.version == 1:
                self._new.add((kind, name))
            self._add_mentioned(recorded.event)
            if isinstance(recorded.event, SERVING_CHANGES):
                self._serving_labs[name] = None

    def _add_mentioned(self, event: Event) -> None:
        if isinstance(event, directory_events.PoolSystemAdded | directory_events.PoolSystemRemoved):
            self._names["system"][event.system] = None
        if isinstance(event, SystemRegistered | SystemLabControllerChanged):
            self._names["lab-controller"][event.lab_controller] = None

    def names(self, kind: str) -> list[str]:
        return list(self._names.get(kind, ()))

    def numbers(self, kind: str) -> list[int]:
        return [int(name) for name in self.names(kind)]

    def numbers_stored(self, kind: str) -> list[int]:
        return [int(name) for name in self.names(kind) if (kind, name) not in self._new]

    def documents(self) -> Iterator[tuple[str, str]]:
        for kind, names in self._names.items():
            if kind not in _KINDS_WITH_TABLES:
                yield from ((kind, name) for name in names)

    @property
    def serving_changed_labs(self) -> list[str]:
        """Return the labs whose idle systems may join or leave the idle pool."""
        return list(self._serving_labs)
