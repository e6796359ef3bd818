"""People as recipients of notifications, folded from the events of users."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from domain.directory import events as directory_events
from domain.directory.roles import ADMIN
from domain.events import Event, Recorded, split_subject
from domain.notifications.kinds import LAB_SILENT

FOLDED_EVENTS: Final[tuple[type[Event], ...]] = (
    directory_events.UserRegistered,
    directory_events.UserChanged,
    directory_events.UserNotificationsChanged,
    directory_events.UserLeftLdap,
    directory_events.UserRemoved,
)


@dataclass(frozen=True, slots=True)
class Recipient:
    """A user, registered at the position `since` and the time `registered_at`.

    `mail` are the chosen kinds of notification by mail, None for the defaults of the service; `webhook` are
    those by webhook.
    """

    name: str
    since: int
    registered_at: datetime
    email: str | None = None
    is_admin: bool = False
    mail: tuple[str, ...] | None = None
    webhook: tuple[str, ...] = ()
    webhook_id: str | None = None

    def mail_kinds(self, defaults: Sequence[str]) -> tuple[str, ...]:
        """Return the kinds that the person gets by mail; `defaults` are those of the service."""
        return self.default_kinds(defaults) if self.mail is None else self.mail

    def default_kinds(self, defaults: Sequence[str]) -> tuple[str, ...]:
        """Return the defaults that apply to the person: only admins get messages about labs."""
        return tuple(kind for kind in defaults if kind != LAB_SILENT or self.is_admin)


def evolve(person: Recipient | None, recorded: Recorded) -> Recipient | None:
    """Return the person after an event of the user, None after a removal."""
    event = recorded.event
    if isinstance(event, directory_events.UserRemoved):
        return None
    if isinstance(event, directory_events.UserRegistered):
        if person is None or not isinstance(event, directory_events.UserChanged):
            person = Recipient(split_subject(recorded.subject)[1], recorded.position, recorded.recorded_at)
        return replace(person, email=event.email, is_admin=ADMIN in (event.roles or ()))
    if isinstance(event, directory_events.UserLeftLdap) and person is not None:
        return replace(person, email=None, is_admin=False, webhook=(), webhook_id=None)
    if isinstance(event, directory_events.UserNotificationsChanged) and person is not None:
        mail = None if event.mail is None else tuple(event.mail)
        return replace(person, mail=mail, webhook=tuple(event.webhook), webhook_id=event.webhook_id)
    return person


@dataclass
class People:
    """Mutable: `apply` the events of the log in order."""

    _by_name: dict[str, Recipient] = field(default_factory=dict)
    _mail_choosers: set[str] = field(default_factory=set)

    @property
    def mail_chooser_count(self) -> int:
        """Return the number of people who chose kinds by mail, without those who have the defaults."""
        return len(self._mail_choosers)

    def stored(self) -> list[Recipient]:
        """Return the people as values for JSON, from which `restored` returns the same."""
        return list(self._by_name.values())

    @classmethod
    def restored(cls, rows: Iterable[Mapping[str, Any]]) -> People:
        people = cls()
        for row in rows:
            mail = None if row["mail"] is None else tuple(row["mail"])
            registered_at = datetime.fromisoformat(row["registered_at"])
            changed = {"mail": mail, "webhook": tuple(row["webhook"]), "registered_at": registered_at}
            people._put(row["name"], Recipient(**{**row, **changed}))
        return people

    def apply(self, recorded: Recorded) -> None:
        """Apply an event; ignore events that are not `FOLDED_EVENTS`."""
        if not isinstance(recorded.event, FOLDED_EVENTS):
            return
        _, name = split_subject(recorded.subject)
        self._put(name, evolve(self._by_name.get(name), recorded))

    def _put(self, name: str, person: Recipient | None) -> None:
        if person is None:
            self._by_name.pop(name, None)
        else:
            self._by_name[name] = person
        chooses = person is not None and bool(person.mail)
        (self._mail_choosers.add if chooses else self._mail_choosers.discard)(name)

    def get(self, name: str, position: int | None = None) -> Recipient | None:
        """Return the person of this name; with a position, None if it was registered after that."""
        person = self._by_name.get(name)
        return person if person is None or position is None or person.since <= position else None

    def chosen_by(self, chooses: Callable[[Recipient], bool]) -> Iterator[str]:
        """Yield the names of the people for whom `chooses` is true."""
        return (name for name, person in self._by_name.items() if chooses(person))
