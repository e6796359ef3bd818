"""Reads of a real LDAP server: complete, or an error."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from ldap3 import SUBTREE, Connection

from api.ldap.dn import Dn, parsed_dn
from api.ldap.errors import LdapFault
from api.ldap.options import LdapOptions, LdapServer
from api.ldap.reading import people, read_people
from api.ldap.searches import LdapEntry, LdapSearches, Search
from tests.harness.running import free_port
from tests.ldap.slapd import GROUPS, HOST, LIMITED, PEOPLE, SUFFIX, Slapd, group, person

ALL = frozenset({"ann", "bob", "eve", "root", "zoe"})


def test_read__by_starttls_and_by_tls__returns_people_and_members_by_dn_name_and_nested_group(
    directory: Slapd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.ldap.searches.PAGE_SIZE", 2)
    directory.add(group("posix"), ["posixGroup"], gidNumber="1", memberUid=["bob", "gone", "Ann"])
    directory.add(group("inner"), ["groupOfNames"], member=[f"UID=eve, {PEOPLE.upper()}", group("kernel")])
    directory.set(group("kernel"), member=[person("ann"), group("inner"), person("gone")])
    options = directory.options(group_map={"Kernel": ("qa",), "posix": ("ops",), "absent": ("qa",)})
    found = read_people(options)
    assert (found.users, found.invalid) == (ALL, frozenset())
    assert found.members == {"Kernel": {"ann", "eve"}, "posix": {"bob"}}
    by_tls = LdapServer(HOST, directory.tls_port, True, False)
    assert read_people(directory.options(servers=(by_tls,))).users == ALL


def test_read__server_without_trust_or_answer__fails_with_the_reason(
    directory: Slapd, tmp_path: Path
) -> None:
    other_ca = tmp_path / "other.pem"
    # Valid, but has signed nothing here.
    other_ca.write_bytes((directory.folder / "server.pem").read_bytes())
    address = LdapServer("127.0.0.1", directory.port, False, True)
    plain = LdapServer(HOST, directory.port, False, False)
    cases: list[tuple[dict[str, Any], str]] = [
        ({"ca_file": other_ca}, "certificate verify failed"),
        ({"servers": (address,)}, "IP address mismatch"),
        ({"servers": (plain,)}, "confidentialityRequired"),
        ({"password": "wrong"}, "invalidCredentials"),
        ({"user_base": f"ou=nobody,{SUFFIX}"}, "noSuchObject"),
        ({"user_filter": "(cn=nobody)"}, "no entry below ou=people"),
        ({"bind_dn": LIMITED}, "sizeLimitExceeded"),
        ({"servers": (LdapServer(HOST, free_port(), False, True),)}, "Connection refused"),
    ]
    for changes, reason in cases:
        with pytest.raises(LdapFault, match=reason):
            read_people(directory.options(**changes))


def test_read__several_servers__the_first_that_answers_counts(directory: Slapd) -> None:
    away, present = LdapServer(HOST, free_port(), False, True), directory.options().servers[0]
    assert read_people(directory.options(servers=(away, present))).users == ALL
    with pytest.raises(LdapFault, match=rf"{away.name}: .*; {present.name}: .*invalidCredentials"):
        read_people(directory.options(servers=(away, present), password="wrong"))


def test_read__a_branch_on_another_server__fails_instead_of_leaving_out_its_people(directory: Slapd) -> None:
    reference = f"ou=elsewhere,{PEOPLE}"
    directory.add(reference, ["referral", "extensibleObject"], ref=f"ldap://ldap.example.org/{reference}")
    with pytest.raises(LdapFault, match=r"refers to ldap://ldap\.example\.org"):
        read_people(directory.options())


def test_read__group_of_the_table_in_two_branches__fails(directory: Slapd) -> None:
    other = f"ou=other,{GROUPS}"
    directory.add(other, ["organizationalUnit"])
    directory.add(f"cn=KERNEL,{other}", ["groupOfNames"], member=[person("eve")])
    with pytest.raises(LdapFault, match=r"several groups below ou=groups,.* are named kernel"):
        read_people(directory.options())


@contextmanager
def silent_server() -> Iterator[int]:
    """Listen on a port, and never answer."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@pytest.mark.parametrize("has_tls", [False, True])
def test_read__server_hangs__fails_after_the_time_limit(directory: Slapd, has_tls: bool) -> None:
    with silent_server() as port:
        hanging = LdapServer("127.0.0.1", port, has_tls, not has_tls)
        with pytest.raises(LdapFault, match=r"timed out|receiving data"):
            read_people(directory.options(servers=(hanging,), timeout_seconds=1))


def test_read__pages_without_an_end__fails_after_the_time_for_all(
    directory: Slapd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.ldap.reading.READ_SECONDS", -1.0)
    with pytest.raises(LdapFault, match="not complete in time"):
        read_people(directory.options())


def options_of(folder: Path, **changes: Any) -> LdapOptions:
    """Return the options of a server that does not run."""
    return Slapd(folder, 1, 2).options(**changes)


def test_read__first_server_takes_all_its_time__leaves_some_to_the_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, shares = 1000.0, []

    @contextmanager
    def hang(_: LdapOptions, server: LdapServer, deadline: float) -> Iterator[LdapSearches]:
        nonlocal now
        shares.append(deadline - now)
        if server.host == "slow":
            now = deadline
        raise LdapFault("no answer")
        yield

    monkeypatch.setattr("api.ldap.reading.bound_searches", hang)
    monkeypatch.setattr("api.ldap.reading.time", SimpleNamespace(monotonic=lambda: now))
    servers = tuple(LdapServer(name, 1, False, True) for name in ("away", "slow", "third"))
    with pytest.raises(LdapFault, match="third:1: no answer"):
        read_people(options_of(tmp_path, servers=servers))
    assert shares == [100.0, 150.0, 150.0]


def test_people__member_of_several_groups__is_parsed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []

    def counted(text: str) -> Dn | None:
        parsed.append(text)
        return parsed_dn(text)

    monkeypatch.setattr("api.ldap.reading.parsed_dn", counted)
    names = [f"g{number}" for number in range(3)]
    groups = [
        LdapEntry(f"cn={name},dc=x", {"cn": [name], "member": ["uid=Ann,dc=x", "cn=g0,dc=x"]})
        for name in names
    ]
    options = options_of(tmp_path, group_map=dict.fromkeys(names, ("qa",)))
    found = people(options, [LdapEntry("uid=ann,dc=x", {"uid": ["ann"]})], groups)
    assert [found.members[name] for name in names] == [{"ann"}] * 3
    assert parsed.count("uid=Ann,dc=x") == 1


def test_people__names_with_escapes_and_invalid_ones__match_in_any_notation(tmp_path: Path) -> None:
    users = [
        LdapEntry(r"cn=Lee\, Ann,dc=x", {"uid": ["lee"]}),
        LdapEntry("cn=b,dc=x", {"uid": ["not a name"]}),
        LdapEntry("cn=line,dc=x", {"uid": ["line\n"]}),
        LdapEntry("cn=part,dc=x", {"uid": ["Retention"]}),
        LdapEntry("cn=long,dc=x", {"uid": ["n" * 256]}),
        LdapEntry(r"cn=\C3\A9,dc=x", {"uid": ["eric"]}),
    ]
    members = [
        r"CN=lee\2c ann, DC=X",
        "cn=b,dc=x",
        "cn=é,dc=x",
        "cn=line,dc=x",
        "cn=long,dc=x",
        "cn=part,dc=x",
    ]
    groups = [LdapEntry("cn=kernel,dc=x", {"cn": ["kernel"], "member": members})]
    found = people(options_of(tmp_path), users, groups)
    assert found.members == {"kernel": {"lee", "eric"}}
    assert found.invalid == {"not a name", "line\n", "n" * 256, "Retention"}


def test_people__several_names_and_levels_with_two_attributes__are_distinguished(tmp_path: Path) -> None:
    users = [
        LdapEntry("uid=ann,dc=x", {"uid": ["ann", "aaa", "zzz"]}),
        LdapEntry("uid=bob+cn=b,dc=x", {"uid": ["bob"]}),
        LdapEntry("uid=bob,cn=b,dc=x", {"uid": ["eve"]}),
    ]
    written = ["uid=ann,dc=x", "uid=bob+cn=b,dc=x"]
    found = people(
        options_of(tmp_path), users, [LdapEntry("cn=k,dc=x", {"cn": ["kernel"], "member": written})]
    )
    assert found.members == {"kernel": {"ann", "bob"}}
    # An alias does not leave LDAP.
    assert {"aaa", "zzz"} <= found.users


def test_people__dn_that_cannot_be_read__fails_instead_of_being_that_of_every_name(tmp_path: Path) -> None:
    ann = LdapEntry("uid=ann,dc=x", {"uid": ["ann"]})
    kernel = LdapEntry("cn=kernel,dc=x", {"cn": ["kernel"], "memberUid": ["bob"]})
    bad = "no dn"
    for users, groups in (
        ([ann, LdapEntry(bad, {"uid": ["eve"]})], [kernel]),
        ([ann], [kernel, LdapEntry(bad, {"cn": ["other"], "memberUid": ["ann"]})]),
    ):
        with pytest.raises(LdapFault, match="no dn: the DN of the entry cannot be read"):
            people(options_of(tmp_path), users, groups)


def test_people__groups_without_a_readable_member__are_hollow(
    tmp_path: Path,
) -> None:
    groups = [
        LdapEntry("cn=kernel,dc=x", {"cn": ["kernel"], "member": []}),
        LdapEntry("cn=tools,dc=x", {"cn": ["tools"], "member": ["uid=elsewhere,dc=x"]}),
        LdapEntry("cn=all,dc=x", {"cn": ["all"], "member": ["cn=kernel,dc=x"]}),
    ]
    options = options_of(tmp_path, group_map=dict.fromkeys(("kernel", "tools", "all"), ("qa",)))
    found = people(options, [LdapEntry("uid=ann,dc=x", {"uid": ["ann"]})], groups)
    assert found.hollow == {"kernel", "all"}


def test_people__dn_that_ldap3_refuses__is_compared_as_it_is_written(tmp_path: Path) -> None:
    dns = ["cn=a#b,dc=x", r"cn=foo\ ,dc=x", "2.5.4.3=foo,dc=x", "cn=C# developers,dc=x"]
    users = [LdapEntry(dn, {"uid": [f"u{number}"]}) for number, dn in enumerate(dns)]
    written = ["CN=A#B,DC=x", *dns[1:3]]
    groups = [
        LdapEntry("cn=kernel,dc=x", {"cn": ["kernel"], "member": [*written, "cn=c#,dc=x"]}),
        LdapEntry("cn=c#,dc=x", {"cn": ["inner"], "member": dns[3:]}),
        LdapEntry("cn=d#,dc=x", {"cn": ["of no interest"]}),
    ]
    found = people(options_of(tmp_path), users, groups)
    assert found.members == {"kernel": {"u0", "u1", "u2", "u3"}}


def test_people__groups_that_are_all_in_each_other__are_each_read_once(tmp_path: Path) -> None:
    dns = [f"cn=g{number},dc=x" for number in range(12)]
    groups = [
        LdapEntry(dn, {"cn": [dn.partition(",")[0][3:]], "member": [*dns, "uid=ann,dc=x"]}) for dn in dns
    ]
    options = options_of(tmp_path, group_map={"g0": ("qa",)})
    # All paths through twelve groups would take minutes.
    assert people(options, [LdapEntry("uid=ann,dc=x", {"uid": ["ann"]})], groups).members["g0"] == {"ann"}


class RangeConnection:
    """A connection to a server that sends `step` of the values of `member` at a time.

    `faults` are the results of requests for a further range, by their first value.
    """

    def __init__(self, members: list[str], step: int, faults: dict[int, dict[str, Any]]) -> None:
        self.members, self.step, self.faults = members, step, faults
        self.result: dict[str, Any] = {}
        self.response: list[dict[str, Any]] = []

    def search(self, base: str, filter_text: str, scope: str, *, attributes: list[str], **_: Any) -> None:
        first = 0 if scope == SUBTREE else int(attributes[0].partition(";range=")[2].partition("-")[0])
        fault = self.faults.get(first, {})
        self.result = {"result": fault.get("result", 0), "description": "operationsError", "message": ""}
        part = [value.encode() for value in self.members[first : first + self.step]]
        last = "*" if first + self.step >= len(self.members) else str(first + len(part) - 1)
        raw = fault.get("raw", {"Member": [], f"Member;range={first}-{last}": part})
        entry = {"type": "searchResEntry", "dn": base, "raw_attributes": raw}
        self.response = [] if fault.get("is_empty") else [entry]


def read_in_ranges(count: int, **faults: dict[str, Any]) -> list[str]:
    """Return the members of a group whose values the server sends by threes."""
    by_first = {int(name.removeprefix("at_")): fault for name, fault in faults.items()}
    connection = RangeConnection([f"m{number}" for number in range(count)], 3, by_first)
    searches = LdapSearches(cast(Any, connection), 5, time.monotonic() + 60)
    (found,) = searches.entries(Search(group("big"), "(cn=*)", ("cn", "member")))
    return list(found.values["member"])


def test_search__server_sends_members_in_ranges__returns_all_or_fails() -> None:
    for count in (3, 8, 9):
        assert read_in_ranges(count) == [f"m{number}" for number in range(count)]
    # As of a server that repeats the range that was asked for.
    repeated = {"raw": {"member;range=3-*": [], "member;range=3-5": [b"m3", b"m4", b"m5"]}}
    assert len(read_in_ranges(8, at_3=repeated)) == 8
    assert len(read_in_ranges(6, at_3={"raw": {"member;range=3-*": []}})) == 3
    faults: list[dict[str, Any]] = [
        {"is_empty": True},
        {"raw": {}},
        {"raw": {"member": [b"m3"]}},
        {"raw": {"member;range=4-*": [b"m4"]}},
        {"raw": {"member;range=3-6": [b"m3"]}},
        {"raw": {"member;range=3-2": []}},
    ]
    for fault in faults:
        with pytest.raises(LdapFault, match="sent only a part of member"):
            read_in_ranges(8, at_3=fault)
    with pytest.raises(LdapFault, match="operationsError"):
        read_in_ranges(8, at_6={"result": 1})


def test_connection__ranges_of_ldap3__are_off(directory: Slapd, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Connection] = []

    def search(connection: Connection, *_: Any, **__: Any) -> None:
        made.append(connection)
        raise LdapFault("enough")

    monkeypatch.setattr(Connection, "search", search)
    with pytest.raises(LdapFault, match="enough"):
        read_people(directory.options())
    assert not made[0].auto_range
