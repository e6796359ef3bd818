"""Notifications: the events that make messages, their recipients, and their time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from domain.directory import events as directory_events
from domain.events import Event, Recorded, Stamp
from domain.notifications.kept import KeptSystems, kept_notice
from domain.notifications.kinds import DEFAULT_KINDS, MAIL, WEBHOOK
from domain.notifications.messages import Routing, messages
from domain.notifications.notice import Notice
from domain.notifications.people import People
from domain.notifications.retries import next_attempt
from domain.notifications.systems import SystemOwners
from domain.recipe import events as recipe_events
from domain.system import events as system_events

NOW = datetime(2027, 1, 8, tzinfo=UTC)
ROUTING = Routing(DEFAULT_KINDS, sends_mail=True)


def recorded(position: int, subject: str, event: Event, at: datetime = NOW) -> Recorded:
    return Recorded(position, position, at, subject, 1, event, Stamp(at, "admin", "request/1"))


def people(*events: tuple[int, str, Event]) -> People:
    folded = People()
    for each in events:
        folded.apply(recorded(*each))
    return folded


def user(*roles: str, email: str | None = "a@b.c") -> Event:
    return directory_events.UserRegistered(roles=roles or ("submitter",), email=email)


def chosen(mail: list[str] | None, webhook: list[str] | None = None) -> Event:
    return directory_events.UserNotificationsChanged(mail, webhook or [], "w1" if webhook else None)


def notice(kind: str = "job-ended", people: tuple[str, ...] | None = ("ann",), **more: object) -> Notice:
    fields = {"as_of": 5, "addresses": (), **more}
    return Notice(kind, 7, NOW, NOW, "job/1", "Job 1", {}, people, **fields)  # type: ignore[arg-type]


def sent(one: Notice, folded: People, routing: Routing = ROUTING) -> list[tuple[str, str, str | None]]:
    return [(each.user, each.channel, each.address) for each in messages(one, folded, routing)]


def test_messages__choices_of_people__decide_who_gets_what() -> None:
    folded = people(
        (1, "user/ann", user()),
        (2, "user/bob", user("admin", email="bob@b.c")),
        (3, "user/cat", user(email=None)),
        (4, "user/dan", user()),
        (5, "user/dan", chosen(["lab-silent"], ["job-ended", "lab-silent"])),
    )
    assert sent(notice(), folded) == [("ann", MAIL, None)]
    assert sent(notice(people=("cat",)), folded) == [], "no address"
    assert sent(notice(people=("dan",)), folded) == [("dan", WEBHOOK, None)], "no mail chosen"
    lab = [("bob", MAIL, None), ("dan", MAIL, None), ("dan", WEBHOOK, None)]
    assert sent(notice("lab-silent", None), folded) == lab, "by default only admins"
    assert sent(notice("lab-silent", None), folded, Routing((), sends_mail=False)) == [lab[-1]]
    assert sent(notice(as_of=0), folded) == [], "registered later: another user of that name"
    both = notice(addresses=("x@y.z", "a@b.c"))
    assert sent(both, folded) == [("ann", MAIL, "x@y.z"), ("ann", MAIL, "a@b.c")], "one mail for each address"


def test_messages__made_again__have_the_same_ids() -> None:
    folded = people((1, "user/ann", user()), (2, "user/ann", chosen(None, ["job-ended"])))
    ids = [each.id for each in messages(notice(), folded, ROUTING)]
    assert ids == [each.id for each in messages(notice(), folded, ROUTING)]
    restored = Notice("job-ended", 7, NOW + timedelta(1), NOW, "job/1", "Job 1", {}, ("ann",), 5)
    assert not {*ids} & {each.id for each in messages(restored, folded, ROUTING)}
    assert len({*ids}) == 2


def test_people__removed_and_registered_again__has_no_choices() -> None:
    folded = people(
        (1, "user/ann", user()), (2, "user/ann", chosen([])), (3, "user/ann", directory_events.UserRemoved())
    )
    assert folded.get("ann") is None
    folded.apply(recorded(4, "user/ann", user()))
    person = folded.get("ann")
    assert person is not None and (person.since, person.mail) == (4, None)


def near(kept: KeptSystems, seconds: float) -> list[str]:
    return [key for key, _ in kept.take_near(NOW + timedelta(seconds=seconds), 600)]


def test_kept__recipe_extended__is_near_before_the_new_end_once_more() -> None:
    kept = KeptSystems()
    kept.apply(recorded(1, "recipe/12", recipe_events.RecipeReserved("a.lab", 3600)))
    assert near(kept, 2999) == []
    assert near(kept, 3000) == ["recipe/12"]
    assert near(kept, 3001) == [], "reported"
    at = NOW + timedelta(seconds=3100)
    kept.apply(recorded(2, "recipe/12", recipe_events.RecipeExtended(3600, None), at))
    assert near(kept, 6599) == []
    ((key, each),) = kept.take_near(NOW + timedelta(seconds=6600), 600)
    found = kept_notice(key, each, "ann", 600)
    assert (found.position, found.subject, found.as_of) == (2, "recipe/12", 1)
    assert found.title == "Recipe 12 keeps a.lab until 2027-01-08T02:00:00Z"
    kept.apply(recorded(3, "recipe/12", recipe_events.RecipeExtended(3600, None), at))
    kept.apply(recorded(4, "recipe/12", recipe_events.RecipeCompleted()))
    assert near(kept, 90_000) == []


@pytest.mark.parametrize("kind", ["loan", "reservation"])
def test_kept__loans_and_reservations__end_alone(kind: str) -> None:
    until = (NOW + timedelta(seconds=300)).isoformat()
    kept = KeptSystems()
    kept.apply(recorded(1, "system/a", system_events.SystemLoaned("ann", until)))
    kept.apply(recorded(2, "system/a", system_events.SystemReservationBegun("ann", until, None)))
    ended = {"loan": system_events.SystemReservationEnded, "reservation": system_events.SystemLoanEnded}
    kept.apply(recorded(3, "system/a", ended[kind](reason="over")))
    assert near(kept, 149) == [], "not before half of the time"
    ((key, each),) = kept.take_near(NOW + timedelta(seconds=150), 600)
    assert (key, each.user) == (f"{kind}/a", "ann")
    kept.apply(recorded(4, "system/a", system_events.SystemLoaned("ann", None)))
    kept.apply(recorded(5, "system/a", system_events.SystemReservationBegun("ann", None, None)))
    assert near(kept, 90_000) == [], "without an end"


def test_systems__broken__concerns_the_present_owner() -> None:
    systems = SystemOwners()
    systems.apply(recorded(1, "system/a", system_events.SystemRegistered("lab", "ann", "Automated", {})))
    systems.apply(recorded(2, "system/a", system_events.SystemOwnerChanged("bob")))
    manual = system_events.SystemConditionChanged("Manual", "why")
    assert systems.apply(recorded(3, "system/a", manual)) is None
    found = systems.apply(recorded(4, "system/a", system_events.SystemConditionChanged("Broken", "smoke")))
    assert found is not None and (found.people, found.as_of) == (("bob",), 2)
    silent = systems.apply(recorded(5, "lab-controller/lab", directory_events.LabControllerSilent()))
    assert silent is not None and (silent.kind, silent.people) == ("lab-silent", None)


def test_retries__pauses__grow_for_a_day() -> None:
    now, pauses, attempts = NOW, [], 0
    while True:
        attempts += 1
        retry = next_attempt(NOW, now, attempts)
        if retry is None:
            break
        pauses.append((retry - now).total_seconds())
        now = retry
    assert pauses[:4] == [1, 2, 4, 8]
    assert pauses == sorted(pauses) and pauses[-1] == 3600
    assert timedelta(hours=22) < now - NOW <= timedelta(days=1)
