"""What a page of events is about, and so which rows it has to be folded over."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from domain.directory import events as directory_events
from domain.events import Event, Recorded, split_subject
from domain.system.events import SystemLabControllerChanged, SystemRegistered

# Aggregates with tables of their own; all others are documents.
_NO_DOCUMENT = frozenset(("job", "recipe-set", "recipe", "system", "command"))

SERVING = (
    directory_events.LabControllerRegistered,
    directory_events.LabControllerEnabled,
    directory_events.LabControllerDisabled,
    directory_events.LabControllerSilent,
    directory_events.LabControllerHeard,
)
"""Events after which all idle systems of a lab may be had, or may not."""


class Touched:
    """The subjects of a page, by kind, and the names that its events mention."""

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
        """Of those that do not begin on this page: nothing is stored yet of one that does."""
        return [int(name) for name in self.names(kind) if (kind, name) not in self._begun]

    def documents(self) -> Iterator[tuple[str, str]]:
        """(kind, name) of what is kept as a document."""
        for kind, names in self._names.items():
            if kind not in _NO_DOCUMENT:
                yield from ((kind, name) for name in names)

    @property
    def enabled_labs(self) -> list[str]:
        """The labs that the page enables or disables."""
        return list(self._enabled)
