"""Subjects of a page of events, and so the rows that its fold needs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from domain.directory import events as directory_events
from domain.events import Event, Recorded, split_subject
from domain.system.events import SystemLabControllerChanged, SystemRegistered

# Kinds with tables of their own; all others are documents.
_NO_DOCUMENT = frozenset(("job", "recipe-set", "recipe", "system", "command"))

SERVING = (
    directory_events.LabControllerRegistered,
    directory_events.LabControllerEnabled,
    directory_events.LabControllerDisabled,
    directory_events.LabControllerSilent,
    directory_events.LabControllerHeard,
)
"""Events that put all idle systems of a lab into the idle pool, or take them out."""


class PageSubjects:
    """The subjects of a page, by kind, with other names that its events mention."""

    def __init__(self, page: Sequence[Recorded]) -> None:
        self._names: dict[str, dict[str, None]] = defaultdict(dict)
        self._begun: set[tuple[str, str]] = set()
        self._enabled: dict[str, None] = {}
        for recorded in page:
            kind, name = split_subject(recorded.subject)
            self._names[kind][name] = None
            if recorded.version == 1:
                self._begun.add((kind, name))
            self._mentioned(recorded.event)
            if isinstance(recorded.event, SERVING):
                self._enabled[name] = None

    def _mentioned(self, event: Event) -> None:
        if isinstance(event, directory_events.PoolSystemAdded | directory_events.PoolSystemRemoved):
            self._names["system"][event.system] = None
        if isinstance(event, SystemRegistered | SystemLabControllerChanged):
            self._names["lab-controller"][event.lab_controller] = None

    def names(self, kind: str) -> list[str]:
        return list(self._names.get(kind, ()))

    def numbers(self, kind: str) -> list[int]:
        return [int(name) for name in self.names(kind)]

    def numbers_stored(self, kind: str) -> list[int]:
        """Return the numbers of subjects that existed before the page."""
        return [int(name) for name in self.names(kind) if (kind, name) not in self._begun]

    def documents(self) -> Iterator[tuple[str, str]]:
        """Yield kind and name of each document."""
        for kind, names in self._names.items():
            if kind not in _NO_DOCUMENT:
                yield from ((kind, name) for name in names)

    @property
    def enabled_labs(self) -> list[str]:
        """Return the labs whose idle systems may join or leave the idle pool."""
        return list(self._enabled)
