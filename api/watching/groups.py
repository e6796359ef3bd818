"""Groups of watchers with the same selection, so that an event is matched once per group."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from api.watching.message import EventMessage
from store.selection import Selection

if TYPE_CHECKING:
    from api.watching.watcher import Watcher


class WatcherGroup:
    """Watchers with the same selection. `watchers` is a dict as an ordered set."""

    def __init__(self, selection: Selection) -> None:
        self.selection = selection
        self.watchers: dict[Watcher, None] = {}


def visible(selection: Selection, messages: Sequence[EventMessage]) -> Sequence[EventMessage]:
    """Return the messages of the selected partition and actor, without those about `unseen` subjects."""
    if selection.partition is not None:
        messages = [message for message in messages if selection.has_partition(message.partition)]
    if selection.actor is not None:
        messages = [message for message in messages if selection.has_actor(message.actor)]
    if not selection.unseen:
        return messages
    return [message for message in messages if selection.sees(message.subjects)]


class WatcherGroups:
    def __init__(self) -> None:
        self._groups: dict[Selection, WatcherGroup] = {}
        self._of_everything: dict[WatcherGroup, None] = {}
        self._of_topic: defaultdict[str, dict[WatcherGroup, None]] = defaultdict(dict)
        self._of_subject: defaultdict[str, dict[WatcherGroup, None]] = defaultdict(dict)

    def add(self, watcher: Watcher) -> None:
        group = self._groups.get(watcher.selection)
        if group is None:
            group = self._groups[watcher.selection] = WatcherGroup(watcher.selection)
            for index in self._indexes(group.selection):
                index[group] = None
        group.watchers[watcher] = None

    def remove(self, watcher: Watcher) -> None:
        group = self._groups.get(watcher.selection)
        if group is None or watcher not in group.watchers:
            return
        del group.watchers[watcher]
        if not group.watchers:
            del self._groups[group.selection]
            self._drop(group)

    def messages_by_group(
        self, messages: Iterable[EventMessage]
    ) -> Iterable[tuple[WatcherGroup, Sequence[EventMessage]]]:
        """Return the visible messages of each group that has any, in order."""
        selected: defaultdict[WatcherGroup, list[EventMessage]] = defaultdict(list)
        for message in messages:
            for group in self._of_everything:
                if group.selection.wants_of_subject(message.topic):
                    selected[group].append(message)
            for group in self._of_topic.get(message.topic, ()):
                selected[group].append(message)
            for group in self._of_subject.get(message.subject, ()):
                if group.selection.wants_of_subject(message.topic):
                    selected[group].append(message)
        groups = ((group, visible(group.selection, selected[group])) for group in selected)
        return [(group, messages) for group, messages in groups if messages]

    def _indexes(self, selection: Selection) -> list[dict[WatcherGroup, None]]:
        if selection.is_everything:
            return [self._of_everything]
        of_topics = [self._of_topic[topic] for topic in selection.anywhere]
        return of_topics + [self._of_subject[subject] for subject in selection.subjects]

    def _drop(self, group: WatcherGroup) -> None:
        for index in self._indexes(group.selection):
            del index[group]
        for subject in group.selection.subjects:
            if not self._of_subject[subject]:
                del self._of_subject[subject]
