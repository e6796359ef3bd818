"""From whom which systems are hidden, as policies, pools, groups and loans change."""

from __future__ import annotations

from domain.directory import events as directory_events
from domain.directory.state import Directory
from domain.directory.visibility import VisibilityIndex
from domain.events import Event, Recorded, Stamp
from domain.system import events as system_events
from tests.domain.directory.documents import NOW

VIEW = {"permission": "view", "everybody": True}
BY_QA = {"permission": "view", "group": "qa"}


class Town:
    """Two systems of ada's in different labs; bob is in the group `qa`, eve in none."""

    def __init__(self) -> None:
        self.directory = Directory()
        self.position = 0
        self.accesses = VisibilityIndex(self.directory)
        for name in ("ada", "bob", "eve"):
            self.tell(f"user/{name}", directory_events.UserRegistered())
        self.tell("group/qa", directory_events.GroupRegistered([], ["bob"]))
        for fqdn, lab in (("a", "lab-1"), ("b", "lab-2")):
            self.tell(
                f"system/{fqdn}", system_events.SystemRegistered(lab, "ada", "Automated", {"memory_mb": 1})
            )

    def tell(self, subject: str, event: Event) -> None:
        self.position += 1
        at, stamp = self.position, Stamp(NOW, "ada", "request/1")
        recorded = Recorded(at, at, NOW, subject, at, event, stamp)
        self.directory.apply(recorded)
        self.accesses.apply(recorded)

    def policy(self, fqdn: str, *entries: dict[str, object], pool: str | None = None) -> None:
        self.tell(f"system/{fqdn}", system_events.SystemAccessPolicyChanged(entries, pool))

    def hidden(self, user: str, lab: str | None = None) -> list[str]:
        return sorted(self.accesses.hidden_from(user, lab))


def test_hidden__nothing_is_said__nothing() -> None:
    assert Town().hidden("eve") == []


def test_hidden__own_policy__from_who_is_not_named() -> None:
    town = Town()
    town.policy("a", BY_QA)
    assert [town.hidden(user) for user in ("ada", "bob", "eve")] == [[], [], ["a"]]
    town.tell("group/qa", directory_events.GroupChanged([], ["eve"]))
    assert [town.hidden(user) for user in ("bob", "eve")] == [["a"], []]
    town.policy("a", BY_QA, VIEW)
    assert town.hidden("bob") == []


def test_hidden__from_many_alike__is_kept_once_until_it_changes() -> None:
    town = Town()
    town.policy("a", BY_QA)
    assert town.accesses.hidden_from("eve") is town.accesses.hidden_from("zoe") == {"a"}
    town.policy("b", BY_QA)
    assert town.accesses.hidden_from("eve") == {"a", "b"}


def test_hidden__lab_controller__sees_its_own_lab() -> None:
    town = Town()
    for fqdn in ("a", "b"):
        town.policy(fqdn)
    assert town.hidden("lab-ops", "lab-1") == ["b"]
    town.tell("system/b", system_events.SystemLabControllerChanged("lab-1"))
    assert town.hidden("lab-ops", "lab-1") == []


def test_hidden__policy_of_a_pool_counts__as_it_is_until_it_is_gone() -> None:
    town = Town()
    town.tell("pool/big", directory_events.PoolRegistered(None))
    town.policy("a", VIEW, pool="big")
    # It grants nothing to anybody.
    assert town.hidden("bob") == ["a"]
    town.tell("pool/big", directory_events.PoolAccessPolicyChanged([BY_QA]))
    assert [town.hidden(user) for user in ("bob", "eve")] == [[], ["a"]]
    town.policy("b", VIEW)
    town.tell("pool/big", directory_events.PoolRemoved())
    assert town.hidden("eve") == []


def test_hidden__from_who_has_it__never_but_from_their_namesakes() -> None:
    town = Town()
    town.policy("a")
    town.tell("system/a", system_events.SystemLoaned("bob", None))
    town.tell("system/a", system_events.SystemReservationBegun("eve", None, None))
    assert [town.hidden(user) for user in ("bob", "eve")] == [[], []]
    town.tell("user/bob", directory_events.UserRemoved())
    town.tell("user/bob", directory_events.UserRegistered())
    town.tell("system/a", system_events.SystemReservationEnded("returned"))
    assert [town.hidden(user) for user in ("ada", "bob", "eve")] == [[], ["a"], ["a"]]


def test_left_to__user_group_and_pool__the_systems_that_say_something_of_it() -> None:
    town = Town()
    town.tell("pool/big", directory_events.PoolRegistered(None))
    town.policy("a", BY_QA, {"permission": "reserve", "user": "eve"}, pool="big")
    town.tell("system/b", system_events.SystemLoaned("bob", None))
    left = [
        ("user", "eve"),
        ("user", "bob"),
        ("group", "qa"),
        ("pool", "big"),
        ("group", "bob"),
        ("pool", "qa"),
    ]
    assert [town.accesses.referring_systems(kind, name) for kind, name in left] == [
        ["a"],
        ["b"],
        ["a"],
        ["a"],
        [],
        [],
    ]
    town.tell("system/b", system_events.SystemLoanEnded("over"))
    assert town.accesses.referring_systems("user", "bob") == []
