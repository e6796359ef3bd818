"""Systems hidden from users, as policies, pools, groups and loans change."""

from __future__ import annotations

from domain.directory import events as directory_events
from domain.directory.state import Directory
from domain.directory.visibility import VisibilityIndex
from domain.events import Event, Recorded, Stamp
from domain.system import events as system_events
from tests.domain.directory.documents import NOW

VIEW = {"permission": "view", "everybody": True}
BY_QA = {"permission": "view", "group": "qa"}


class TwoLabs:
    """Two labs with a system of ada each; bob is in the group `qa`, eve in no group."""

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


def test_hidden__no_policy__nothing() -> None:
    assert TwoLabs().hidden("eve") == []


def test_hidden__own_policy__from_users_without_entry() -> None:
    labs = TwoLabs()
    labs.policy("a", BY_QA)
    assert [labs.hidden(user) for user in ("ada", "bob", "eve")] == [[], [], ["a"]]
    labs.tell("group/qa", directory_events.GroupChanged([], ["eve"]))
    assert [labs.hidden(user) for user in ("bob", "eve")] == [["a"], []]
    labs.policy("a", BY_QA, VIEW)
    assert labs.hidden("bob") == []


def test_hidden__many_equal_users__one_cached_set_until_a_change() -> None:
    labs = TwoLabs()
    labs.policy("a", BY_QA)
    assert labs.accesses.hidden_from("eve") is labs.accesses.hidden_from("zoe") == {"a"}
    labs.policy("b", BY_QA)
    assert labs.accesses.hidden_from("eve") == {"a", "b"}


def test_hidden__lab_controller__sees_its_own_lab() -> None:
    labs = TwoLabs()
    for fqdn in ("a", "b"):
        labs.policy(fqdn)
    assert labs.hidden("lab-ops", "lab-1") == ["b"]
    labs.tell("system/b", system_events.SystemLabControllerChanged("lab-1"))
    assert labs.hidden("lab-ops", "lab-1") == []


def test_hidden__active_pool__its_policy_counts_until_removal() -> None:
    labs = TwoLabs()
    labs.tell("pool/big", directory_events.PoolRegistered(None))
    labs.policy("a", VIEW, pool="big")
    # The policy of the pool grants nothing.
    assert labs.hidden("bob") == ["a"]
    labs.tell("pool/big", directory_events.PoolAccessPolicyChanged([BY_QA]))
    assert [labs.hidden(user) for user in ("bob", "eve")] == [[], ["a"]]
    labs.policy("b", VIEW)
    labs.tell("pool/big", directory_events.PoolRemoved())
    assert labs.hidden("eve") == []


def test_hidden__owner_borrower_or_user__sees_system_but_namesake_does_not() -> None:
    labs = TwoLabs()
    labs.policy("a")
    labs.tell("system/a", system_events.SystemLoaned("bob", None))
    labs.tell("system/a", system_events.SystemReservationBegun("eve", None, None))
    assert [labs.hidden(user) for user in ("bob", "eve")] == [[], []]
    labs.tell("user/bob", directory_events.UserRemoved())
    labs.tell("user/bob", directory_events.UserRegistered())
    labs.tell("system/a", system_events.SystemReservationEnded("returned"))
    assert [labs.hidden(user) for user in ("ada", "bob", "eve")] == [[], ["a"], ["a"]]


def test_referring_systems__user_group_and_pool__systems_that_name_it() -> None:
    labs = TwoLabs()
    labs.tell("pool/big", directory_events.PoolRegistered(None))
    labs.policy("a", BY_QA, {"permission": "reserve", "user": "eve"}, pool="big")
    labs.tell("system/b", system_events.SystemLoaned("bob", None))
    left = [
        ("user", "eve"),
        ("user", "bob"),
        ("group", "qa"),
        ("pool", "big"),
        ("group", "bob"),
        ("pool", "qa"),
    ]
    assert [labs.accesses.referring_systems(kind, name) for kind, name in left] == [
        ["a"],
        ["b"],
        ["a"],
        ["a"],
        [],
        [],
    ]
    assert labs.accesses.systems_naming(frozenset({"eve", "bob", "zoe"})) == ["a", "b"]
    labs.tell("system/b", system_events.SystemLoanEnded("over"))
    assert labs.accesses.referring_systems("user", "bob") == []
    assert labs.accesses.systems_naming(frozenset({"bob", "zoe"})) == []
