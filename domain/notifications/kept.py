"""Kept systems, by recipes or people, and the time when their end is near."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

from domain.events import Event, Recorded, split_subject
from domain.notifications.kinds import END_NEAR
from domain.notifications.notice import Notice
from domain.recipe import events as recipe_events
from domain.rfc3339 import rfc3339
from domain.system import events as system_events

RESERVED: Final = recipe_events.RecipeReserved
SYSTEM_EVENTS: Final[tuple[type[Event], ...]] = (
    system_events.SystemReservationBegun,
    system_events.SystemReservationExtended,
    system_events.SystemReservationEnded,
    system_events.SystemLoaned,
    system_events.SystemLoanExtended,
    system_events.SystemLoanEnded,
)
_OF_LOANS: Final = (
    system_events.SystemLoaned,
    system_events.SystemLoanExtended,
    system_events.SystemLoanEnded,
)
_EXTENDED: Final = (system_events.SystemReservationExtended, system_events.SystemLoanExtended)


@dataclass(frozen=True, slots=True)
class KeptSystem:
    """A system that is kept until a time, since the event at `begun`.

    `keeper_kind` is `recipe`, `reservation` or `loan`. `position` and `set_at` are of the event that last set
    the end, `user` is None for a recipe, whose owner is that of its job.
    """

    keeper_kind: str
    system: str
    user: str | None
    until: datetime
    begun: int
    position: int
    set_at: datetime

    def near_at(self, near_seconds: float) -> datetime:
        """Return when the end is near: that many seconds before, but not before half of the time is over."""
        half = (self.until - self.set_at) / 2
        return self.until - min(timedelta(seconds=near_seconds), max(half, timedelta()))


@dataclass
class KeptSystems:
    """Mutable: `apply` the events of the log in order. Each end is reported by `take_near` once."""

    _kept: dict[str, KeptSystem] = field(default_factory=dict)
    _reported: dict[str, int] = field(default_factory=dict)

    def stored(self) -> Mapping[str, KeptSystem]:
        """Return the kept systems as values for JSON, from which `restored` returns the same.

        The ends that were reported follow from the time up to which they were: `skip_near`.
        """
        return self._kept

    @classmethod
    def restored(cls, kept: Mapping[str, Mapping[str, Any]]) -> KeptSystems:
        return cls({key: KeptSystem(**{**row, **_times_of(row)}) for key, row in kept.items()})

    def apply(self, recorded: Recorded) -> None:
        kind, name = split_subject(recorded.subject)
        if kind == "recipe":
            self._apply_to_recipe(recorded)
        elif kind == "system" and isinstance(recorded.event, SYSTEM_EVENTS):
            of_loan = isinstance(recorded.event, _OF_LOANS)
            self._apply_to_system(f"{'loan' if of_loan else 'reservation'}/{name}", name, recorded)

    def skip_near(self, until: datetime, near_seconds: float) -> None:
        """Report nothing that was near up to a time."""
        for _ in self.take_near(until, near_seconds):
            pass

    def take_near(self, now: datetime, near_seconds: float) -> Iterator[tuple[str, KeptSystem]]:
        """Yield the kept systems whose end is near and was not reported, with their keys, and report them."""
        for key, kept in list(self._kept.items()):
            if kept.near_at(near_seconds) <= now and self._reported.get(key) != kept.position:
                self._reported[key] = kept.position
                yield key, kept

    def _apply_to_recipe(self, recorded: Recorded) -> None:
        event, key = recorded.event, recorded.subject
        kept = self._kept.get(key)
        if isinstance(event, RESERVED):
            until = recorded.recorded_at + timedelta(seconds=event.seconds)
            self._put(key, "recipe", event.system, None, until, recorded)
        elif kept is None:
            return
        elif hasattr(event, "STATE"):
            self._drop(key)
        elif isinstance(event, recipe_events.RecipeExtended):
            self._move(key, kept.until + timedelta(seconds=event.seconds), recorded)
        elif isinstance(event, recipe_events.WatchdogSet):
            self._move(key, recorded.recorded_at + timedelta(seconds=event.seconds), recorded)

    def _apply_to_system(self, key: str, fqdn: str, recorded: Recorded) -> None:
        event: Any = recorded.event
        if isinstance(event, _EXTENDED):
            self._move(key, datetime.fromisoformat(event.until), recorded)
        elif (until := getattr(event, "until", None)) is not None:
            keeper_kind, _, _ = key.partition("/")
            self._put(key, keeper_kind, fqdn, event.user, datetime.fromisoformat(until), recorded)
        else:
            self._drop(key)

    def _put(
        self, key: str, keeper_kind: str, fqdn: str, user: str | None, until: datetime, recorded: Recorded
    ) -> None:
        position = recorded.position
        self._kept[key] = KeptSystem(keeper_kind, fqdn, user, until, position, position, recorded.recorded_at)

    def _move(self, key: str, until: datetime, recorded: Recorded) -> None:
        kept = self._kept.get(key)
        if kept is not None:
            moved = replace(kept, until=until, position=recorded.position, set_at=recorded.recorded_at)
            self._kept[key] = moved

    def _drop(self, key: str) -> None:
        self._kept.pop(key, None)
        self._reported.pop(key, None)


def _times_of(row: Mapping[str, Any]) -> dict[str, datetime]:
    return {name: datetime.fromisoformat(row[name]) for name in ("until", "set_at")}


def kept_notice(key: str, kept: KeptSystem, owner: str, near_seconds: float) -> Notice:
    """Return the notice that the end of a kept system is near. `owner` is the user concerned."""
    until = rfc3339(kept.until)
    kind, is_recipe = kept.keeper_kind, kept.keeper_kind == "recipe"
    subject = key if is_recipe else f"system/{kept.system}"
    keeper = f"{key.replace('/', ' ')} keeps" if is_recipe else f"your {kind} of"
    title = f"{keeper} {kept.system} {'until' if is_recipe else 'ends at'} {until}"
    data: dict[str, Any] = {"keeper": kind, "system": kept.system, "user": owner, "until": until}
    if is_recipe:
        data = {**data, "recipe_id": int(key.partition("/")[2])}
    time = kept.near_at(near_seconds)
    return Notice(
        END_NEAR,
        kept.position,
        kept.set_at,
        time,
        subject,
        title[0].upper() + title[1:],
        data,
        (owner,),
        kept.begun,
    )
