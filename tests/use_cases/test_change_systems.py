"""Changes of many systems: commits by partition, failures of one of them, and repeated requests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from api.feed import NotReady
from api.use_cases import partition_commits
from api.use_cases.change_partition import configure_partition
from api.use_cases.change_system import NewSystemValues
from api.use_cases.change_systems import change_systems
from api.use_cases.commit import commit
from api.use_cases.create_partition import create_partition
from api.use_cases.ports import WriteParts
from domain.admission.configuration import stored_configuration
from domain.errors import FaultyInput, NotPermitted, Refused
from domain.system.events import SystemRegistered
from postgres.errors import DatabaseAway
from store.requests import AppendRequest, Committed, Conflict
from tests.use_cases.town import LAB, OTHER_LAB, Town, as_admin, by

DRAIN = NewSystemValues(draining=True, reason="power")
SYSTEMS = ("a", "x", "b")
KEYED = {"command_id": "key", "digest": b"d" * 32}


@pytest.fixture
def parted(town: Town) -> Town:
    """Return a town whose system x is in the lab of a second partition."""
    town.happens("system/x", SystemRegistered(OTHER_LAB, "root", "Manual", {"type": "Machine"}))
    town.ask(create_partition, as_admin(), "gpu")
    wanted = stored_configuration({"lab_controllers": [OTHER_LAB]})
    town.ask(configure_partition, as_admin(), "gpu", wanted)
    return town


def test_drain__of_two_partitions__one_commit_each(parted: Town) -> None:
    before = parted.log.end()
    done = parted.ask(change_systems, as_admin(), SYSTEMS, DRAIN)
    assert done.answers == dict.fromkeys(SYSTEMS, True) and list(done.answers) == list(SYSTEMS)
    assert done.position == parted.log.end()
    found, _ = parted.log.select(before, parted.log.end(), 100)
    commits: dict[int, list[str]] = {}
    for recorded in found:
        commits.setdefault(recorded.commit_end, []).append(recorded.subject)
    assert sorted(commits.values()) == [["system/a", "system/b"], ["system/x"]]
    assert {recorded.partition for recorded in found} == {1, parted.document_of("partition", "gpu")["number"]}


@pytest.fixture
def failing(parted: Town, monkeypatch: pytest.MonkeyPatch) -> Town:
    """Return the town, where commits of system x are conflicts."""

    async def refuse(
        parts: WriteParts, decide: Callable[[], Awaitable[AppendRequest | None]]
    ) -> Committed | None:
        request = await decide()
        if request is not None and "system/x" in request.changed:
            raise Conflict("another change")
        return await commit(parts, decide)

    monkeypatch.setattr(partition_commits, "commit", refuse)
    return parted


def test_drain__one_partition_fails__the_answer_says_which_succeeded(
    failing: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = failing.ask(change_systems, as_admin(**KEYED), SYSTEMS, DRAIN)
    assert done.answers["a"] is True and done.answers["b"] is True
    assert isinstance(done.answers["x"], Conflict)
    # The repeated request completes the other partition.
    monkeypatch.undo()
    again = failing.ask(change_systems, as_admin(**KEYED), SYSTEMS, DRAIN)
    assert again.answers == dict.fromkeys(SYSTEMS, True)
    assert [failing.version(f"system/{fqdn}") for fqdn in SYSTEMS] == [2, 2, 2]


def test_drain__lab_moved_to_a_done_partition_since__is_an_error_and_not_done(
    failing: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing.ask(change_systems, as_admin(**KEYED), SYSTEMS, DRAIN)
    monkeypatch.undo()
    for partition, labs in (("gpu", []), ("default", [LAB, OTHER_LAB])):
        wanted = stored_configuration({"lab_controllers": labs})
        failing.ask(configure_partition, as_admin(), partition, wanted)
    again = failing.ask(change_systems, as_admin(**KEYED), SYSTEMS, DRAIN)
    assert (again.answers["a"], again.answers["b"]) == (True, True)
    assert isinstance(again.answers["x"], Refused) and "use another key" in str(again.answers["x"])
    assert failing.version("system/x") == 1


def test_drain__database_goes_away__the_answer_says_which_succeeded(
    parted: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_away = False

    async def go_away(
        parts: WriteParts, decide: Callable[[], Awaitable[AppendRequest | None]]
    ) -> Committed | None:
        nonlocal is_away
        request = await decide()
        if request is not None and "system/x" in request.changed:
            is_away = True
            raise DatabaseAway("the database cannot be reached")
        return await commit(parts, decide)

    async def find(*_: Any) -> dict[int, Committed]:
        if is_away:
            raise DatabaseAway("the database cannot be reached")
        return {}

    monkeypatch.setattr(partition_commits, "commit", go_away)
    monkeypatch.setattr(partition_commits, "items_done_before", find)
    done = parted.ask(change_systems, as_admin(**KEYED), SYSTEMS, DRAIN)
    assert (done.answers["a"], done.answers["b"], done.position) == (True, True, parted.log.end())
    assert isinstance(done.answers["x"], DatabaseAway)


def test_drain__this_process_reads_it_late__is_done(parted: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    async def too_late(_: object, done: Committed | None) -> Committed | None:
        raise NotReady("this process has not read the log yet")

    monkeypatch.setattr("api.use_cases.commit.wait_until_reflected", too_late)
    done = parted.ask(change_systems, as_admin(), SYSTEMS, DRAIN)
    assert done.answers == dict.fromkeys(SYSTEMS, True)


def test_drain__the_only_partition_fails__is_its_error(failing: Town) -> None:
    with pytest.raises(Conflict):
        failing.ask(change_systems, as_admin(), ["x"], DRAIN)


def test_drain__same_key_by_another_process__first_answer(parted: Town) -> None:
    first = parted.ask(change_systems, as_admin(**KEYED), SYSTEMS, DRAIN)
    end = parted.log.end()
    assert parted.ask(change_systems, as_admin(**KEYED), SYSTEMS, DRAIN, process=1) == first
    with pytest.raises(FaultyInput, match="was used for another request"):
        parted.ask(change_systems, as_admin(command_id="key", digest=b"e" * 32), SYSTEMS, DRAIN)
    assert parted.log.end() == end


def test_drain__sent_twice_at_once__one_event_and_equal_answers(parted: Town) -> None:
    answers: list[Any] = []
    other = parted.scene.apis[1].appended.preceded(
        lambda: answers.append(parted.ask(change_systems, as_admin(**KEYED), ["a", "b"], DRAIN))
    )
    with other:
        answers.append(parted.ask(change_systems, as_admin(**KEYED), ["a", "b"], DRAIN, process=1))
    assert answers[0] == answers[1] and answers[0].answers == {"a": True, "b": True}
    assert [parted.version(f"system/{fqdn}") for fqdn in ("a", "b")] == [2, 2]


def test_drain__faults_of_several_kinds__nothing_in_any_partition(parted: Town) -> None:
    end = parted.log.end()
    with pytest.raises(FaultyInput, match=r"systems\[1\]: there is no system \"no\"; systems\[2\]"):
        parted.ask(change_systems, as_admin(), ["a", "no", "nor"], DRAIN)
    with pytest.raises(NotPermitted, match=r"system a .*; system x "):
        parted.ask(change_systems, by("eve"), ["a", "x"], DRAIN)
    assert parted.log.end() == end


def test_drain__lab_moves_meanwhile__refused(parted: Town) -> None:
    wanted = stored_configuration({"lab_controllers": [LAB, OTHER_LAB]})
    moves = parted.scene.apis[1].appended.preceded(
        lambda: parted.ask(configure_partition, as_admin(), "gpu", wanted)
    )
    with moves, pytest.raises(Refused, match="moved to another partition"):
        parted.ask(change_systems, as_admin(), ["a"], DRAIN, process=1)
