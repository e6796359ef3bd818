"""The current reasons of a whole queue: equal to those of single explanations, over long random histories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from random import Random

import pytest

from domain.recipe.state import Recipe
from domain.scheduling.admitting.admission import DEPENDENCY, JOB_FILTER, QUEUE_STATE
from domain.scheduling.admitting.room_limits import PLACED_RECIPES, ROWS_BY_KIND
from domain.scheduling.bitsets.bitmaps import union
from domain.scheduling.explaining import current_reasons
from domain.scheduling.explaining.candidates import PASSED_OVER, Candidate
from domain.scheduling.explaining.current_reasons import CurrentReason, unplaced_hosts
from domain.scheduling.explaining.waiting import Waiting, WaitingOptions, why_it_waits
from domain.scheduling.supply import reasons
from domain.scheduling.supply import waiting_reasons as codes
from domain.scheduling.world.partition import Partition
from tests.domain.scheduling import history
from tests.domain.scheduling.host_requirements import ANYTHING, named
from tests.domain.scheduling.labs import finish, occupy, wanting
from tests.domain.scheduling.world import World

ROWS = (DEPENDENCY, JOB_FILTER, QUEUE_STATE, *dict.fromkeys(ROWS_BY_KIND.values()))
ACTS = (history.EVERYTHING, history.INTERRUPTED, history.ADMITTED, history.REARRANGED)
HISTORIES = [
    pytest.param(seed, acts, marks=[] if seed < 2 else [pytest.mark.soak])
    for seed in range(6)
    for acts in range(len(ACTS))
]
BURSTS = 25


def reasons_of(partition: Partition, hosts: list[Recipe], unknown: frozenset[str] = frozenset()) -> list[str]:
    bitmap = union(1 << partition.labs.number(fqdn) for fqdn in unknown)
    return [each.code for each in current_reasons.current_reasons(partition, hosts, bitmap)]


def explained(partition: Partition, host: Recipe, unknown: frozenset[str] = frozenset()) -> Waiting:
    return why_it_waits(partition, host, WaitingOptions(1_000, hidden=unknown, unknown=unknown))


@pytest.mark.parametrize(("seed", "acts"), HISTORIES)
def test_current_reasons__of_the_queue__equal_single_explanations(seed: int, acts: int) -> None:
    chance, world = Random(seed), history.begin(seed)
    for number in range(BURSTS):
        history.burst(chance, world, ACTS[acts])
        if number % 3:
            # Otherwise triggers are left, with systems to be asked.
            world.settle()
        world.partition.weigh_at(world.log[-1].recorded_at)
        hosts = unplaced_hosts(world.partition)
        unknown = frozenset(chance.sample(sorted(world.systems), len(world.systems) // 3))
        for excluded in (frozenset[str](), unknown):
            found = reasons_of(world.partition, hosts, excluded)
            assert found == [explained(world.partition, host, excluded).reason.code for host in hosts]


@pytest.mark.parametrize(("seed", "acts"), HISTORIES)
def test_code__of_each_waiting_recipe__is_what_the_whole_explanation_says(seed: int, acts: int) -> None:
    chance, world = Random(seed), history.begin(seed)
    for _ in range(BURSTS):
        history.burst(chance, world, ACTS[acts])
        world.settle()
        world.partition.weigh_at(world.log[-1].recorded_at)
        for host in unplaced_hosts(world.partition):
            answer = explained(world.partition, host)
            assert agrees(host, answer), (host, answer)


def agrees(host: Recipe, answer: Waiting) -> bool:
    """Return whether the counts, the rows and the candidates of an explanation are those of its code."""
    code, counted, held_back = answer.reason.code, answer.counted, answer.held_back
    viable = answer.systems[: counted.viable]
    own = [each for each in viable if host.lab_controller in (None, each.lab_controller)]
    usable = [each for each in own if each.before is not None]
    if code == codes.PARTITION_STOPPED:
        return answer.summary == reasons.PARTITION_STOPPED
    if held_back or code in ROWS:
        return code == held_back[0].row and answer.reason.text == held_back[0].reason
    if code == codes.TREE_AWAY:
        return answer.summary.startswith(reasons.SHOWN[reasons.TREE_AWAY])
    if not counted.viable:
        expected = codes.ALL_LENT if counted.lent else codes.NO_ACCESS if counted.not_allowed else None
        return code == (expected or codes.NO_SYSTEM)
    if not counted.usable:
        return not usable and code == why_not_usable(own or viable)
    if all(reasons.SET_INCOMPLETE in each.reasons for each in usable):
        return code == codes.SET_INCOMPLETE
    if any(reasons.TO_BE_ASKED in each.reasons for each in usable):
        return code == codes.TO_BE_ASKED
    if any(each.verdict == PASSED_OVER for each in usable):
        return code == codes.UNSAFE
    return code == codes.NO_IDLE_SYSTEM


def why_not_usable(viable: Sequence[Candidate]) -> str:
    """Return the code of viable systems that are not usable."""
    not_broken = [each for each in viable if "it is Broken" not in each.reasons]
    if not not_broken:
        return codes.ALL_BROKEN
    silent = [any(reason.startswith(reasons.LAB_SILENT) for reason in each.reasons) for each in not_broken]
    return codes.ALL_SILENT if all(silent) else codes.NONE_USABLE


def code_of(world: World, recipe_id: int) -> str:
    (code,) = reasons_of(world.partition, [world.partition.sets.recipes[recipe_id]])
    return code


def test_code__unanswered_trigger__says_that_the_scheduler_is_about_to_choose(world: World) -> None:
    world.add_idle("a")
    assert code_of(world, world.submit(named("a"))) == codes.TO_BE_ASKED


def test_code__grant_would_be_unsafe__says_so(world: World) -> None:
    world.add_idle("a", "b", "c")
    runs = occupy(world, "a", "b", "c")
    finish(world, runs["c"], runs["b"])
    wanting(world, "a", "b")
    second = wanting(world, "c", "a", "b", priority="High")
    world.complete(runs["a"])
    assert code_of(world, second[1]) == codes.UNSAFE


def test_code__lab_falls_silent__says_so_unless_the_system_is_broken(world: World) -> None:
    world.add_idle("a", "b")
    world.set_condition("b", "Broken")
    occupy(world, "a")
    waits, broken = world.submit(named("a")), world.submit(named("b"))
    world.settle()
    world.fall_silent("lab-1")
    assert (code_of(world, waits), code_of(world, broken)) == (codes.ALL_SILENT, codes.ALL_BROKEN)


def test_code__distro_tree_left_every_lab__names_it(world: World) -> None:
    world.add_idle("a")
    occupy(world, "a")
    waits = world.submit(named("a"))
    world.settle()
    world.put_tree(1, "x86_64", ())
    assert code_of(world, waits) == codes.TREE_AWAY
    answer = explained(world.partition, world.partition.sets.recipes[waits])
    assert answer.summary == answer.reason.text == f"{codes.SENTENCES[codes.TREE_AWAY]}: 1 (tree-1)"


@pytest.mark.parametrize("before", range(1, 6))
def test_current_reasons__room_is_kept_for_a_larger_set__only_from_later_ones(
    world: World, before: int
) -> None:
    world.add_idle(*"abcd")
    world.configure(limits={"placed_recipes": 3})
    runs = occupy(world, "a", "b")
    early = [world.submit(named("a")) for _ in range(before)]
    larger = world.submit_set([named("c"), named("d")])
    late = [world.submit(named("a")) for _ in range(6 - before)]
    world.settle()
    world.now += timedelta(minutes=15)
    world.partition.weigh_at(world.now)
    hosts = unplaced_hosts(world.partition)
    found = dict(zip([host.recipe_id for host in hosts], reasons_of(world.partition, hosts), strict=True))
    assert [found[recipe_id] for recipe_id in early] == [codes.NO_IDLE_SYSTEM] * before
    assert {found[recipe_id] for recipe_id in (*larger, *late)} == {PLACED_RECIPES}
    for host in hosts:
        assert found[host.recipe_id] == explained(world.partition, host).reason.code
    assert world.states(*runs.values()) == ["waiting", "waiting"]


def test_current_reasons__of_equal_recipes__are_found_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.add_idle("a")
    occupy(world, "a")
    for _ in range(20):
        world.submit(named("a"))
        world.submit_set([named("a"), ANYTHING.text])
    world.settle()
    asked = Counter[int]()
    about_systems = current_reasons._about_systems

    def counting(partition: Partition, host: Recipe, unknown: int) -> CurrentReason:
        asked[host.recipe_id] += 1
        return about_systems(partition, host, unknown)

    monkeypatch.setattr(current_reasons, "_about_systems", counting)
    hosts = unplaced_hosts(world.partition)
    assert len(reasons_of(world.partition, hosts)) == len(hosts) == 20
    assert asked.total() == 1


def test_sentences__each_row_of_admission__has_one() -> None:
    assert set(ROWS) <= codes.SENTENCES.keys()
