"""Partitions that are created, get labs and jobs, and whose labs move."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import orjson
import pytest

from api.use_cases import remove_partition as remove_partition_module
from api.use_cases.change_partition import configure_partition, move_partition, would_configure
from api.use_cases.change_system import NewSystemValues, change_system, register_system
from api.use_cases.create_partition import create_partition
from api.use_cases.import_systems import ImportItem, InputLocation, import_systems
from api.use_cases.lend_system import lend_system
from api.use_cases.remove_document import remove_document
from api.use_cases.remove_partition import remove_partition
from api.use_cases.reserve_system import ReservationRequest, reserve_system, return_system
from api.use_cases.submit_job import AcceptedJob, submit_job, submit_jobs
from domain.admission.configuration import stored_configuration
from domain.admission.dependencies import JOB, Dependency
from domain.contention.documents import locks_from_json, raising
from domain.directory.events import DistroTreeChanged, LabControllerDisabled, LabControllerPartitionChanged
from domain.directory.partition_states import DRAIN, START, STOP
from domain.errors import FaultyInput, NotPermitted, Refused, Stale, Unknown
from domain.job.spec import JobSpec, RecipeSetSpec
from domain.priority import Priority
from store.requests import Committed
from tests.random_histories.jobs import job, named, recipe
from tests.random_histories.labs import tree
from tests.use_cases.town import LAB, OTHER_LAB, Town, as_admin, by

GPU, DEFAULT = "gpu", "default"


@pytest.fixture
def gpu(town: Town) -> Town:
    """Return a town with the partition gpu, which has no lab."""
    town.ask(create_partition, as_admin(), GPU)
    return town


@pytest.fixture
def scheduled(gpu: Town) -> Iterator[Town]:
    """Yield the town with a scheduler of `default`, which ends also when a test fails."""
    gpu.scene.scheduler.begin()
    yield gpu
    gpu.scene.scheduler.die()


def configuration(**sections: Any) -> Any:
    return stored_configuration(sections)


def names(town: Town, partition: str, *labs: str, process: int = 0) -> Committed | None:
    """Configure a partition so that it names exactly these labs."""
    wanted = configuration(lab_controllers=list(labs))
    return town.ask(configure_partition, as_admin(), partition, wanted, process=process)


def number_of(town: Town, partition: str) -> int:
    return int(town.document_of("partition", partition)["number"])


def partition_of_lab(town: Town, lab: str) -> int:
    return int(town.document_of("lab-controller", lab).get("partition", 1))


def columns(town: Town, done: Committed | None) -> set[int]:
    """Return the partitions of the events of a commit."""
    assert done is not None
    found, _ = town.log.select(done.first_position - 1, done.position, 1_000)
    return {recorded.partition for recorded in found}


def of(partition: str | None = None, *sets: RecipeSetSpec, **more: Any) -> JobSpec:
    spec = job(sets or (RecipeSetSpec(Priority.Normal, (recipe(named("a")),)),))
    return replace(spec, partition=partition, **more)


def test_create__twice__one_event_and_a_number_of_its_own(town: Town) -> None:
    before = town.log.end()
    assert columns(town, town.ask(create_partition, as_admin(), GPU)) == {0}
    assert town.ask(create_partition, as_admin(), GPU, process=1) is None
    assert town.ask(create_partition, as_admin(), DEFAULT) is None
    town.ask(create_partition, as_admin(), "cpu")
    assert town.since(before) == [
        ("partition/gpu", "partition.created"),
        ("partition/cpu", "partition.created"),
    ]
    assert len({1, number_of(town, GPU), number_of(town, "cpu")}) == 3


def test_create__by_two_at_once__one_event(town: Town) -> None:
    between = town.scene.apis[1].appended.preceded(lambda: town.ask(create_partition, as_admin(), GPU))
    before = town.log.end()
    with between:
        assert town.ask(create_partition, as_admin(), GPU, process=1) is None
    assert town.since(before) == [("partition/gpu", "partition.created")]


def test_create__by_a_submitter_or_for_another_version__refused(town: Town) -> None:
    with pytest.raises(NotPermitted):
        town.ask(create_partition, by("ada"), GPU)
    with pytest.raises(Stale):
        town.ask(create_partition, as_admin(expected=frozenset({1})), GPU)


def test_change__of_an_unknown_partition__is_unknown(town: Town) -> None:
    with pytest.raises(Unknown, match="partition gpu"):
        names(town, GPU, LAB)
    with pytest.raises(Unknown, match="partition gpu"):
        town.ask(move_partition, as_admin(), GPU, DRAIN)


def test_lab__named_by_another_partition__moves_in_one_commit_with_its_systems(gpu: Town) -> None:
    before = gpu.log.end()
    done = names(gpu, GPU, LAB)
    assert gpu.since(before) == [
        ("partition/gpu", "partition.configured"),
        (f"lab-controller/{LAB}", "lab-controller.partition-changed"),
    ]
    assert columns(gpu, done) == {0}
    assert done is not None
    moved = gpu.log.at([done.position])[done.position].event
    assert moved == LabControllerPartitionChanged(number_of(gpu, GPU), ["a", "b"])
    # From now on, events of its systems are those of its partition.
    reserved = gpu.ask(reserve_system, as_admin(), "a", ReservationRequest("eve", None, None))
    assert columns(gpu, reserved) == {number_of(gpu, GPU)}
    assert names(gpu, GPU, LAB) is None


def test_lab__dropped__is_in_no_partition_until_another_names_it(gpu: Town) -> None:
    names(gpu, GPU, LAB)
    names(gpu, GPU)
    assert partition_of_lab(gpu, LAB) == 0
    assert columns(
        gpu, gpu.ask(change_system, as_admin(), "a", NewSystemValues(owner="ada"), lambda _: None)
    ) == {0}
    names(gpu, DEFAULT, LAB)
    assert partition_of_lab(gpu, LAB) == 1
    # What `default` drops stays there.
    names(gpu, DEFAULT)
    assert partition_of_lab(gpu, LAB) == 1


@pytest.mark.parametrize("fault", ["reserved", "unknown lab", "in two"])
def test_lab__that_cannot_move__nothing_is_stored(gpu: Town, fault: str) -> None:
    if fault == "reserved":
        gpu.ask(reserve_system, as_admin(), "a", ReservationRequest("eve", None, None))
    if fault == "in two":
        names(gpu, DEFAULT, LAB)
    before = gpu.log.end()
    wanted = configuration(lab_controllers=["lab-9" if fault == "unknown lab" else LAB])
    expected = {
        "reserved": (
            Refused,
            r"lab-1 cannot change its partition: in use are a \(reserved\); disable the lab",
        ),
        "unknown lab": (FaultyInput, 'there is no lab controller "lab-9"'),
        "in two": (FaultyInput, "lab-1 is in partition default; drop it there first"),
    }
    for use_case in (configure_partition, would_configure):
        with pytest.raises(expected[fault][0], match=expected[fault][1]):
            gpu.ask(use_case, as_admin(), GPU, wanted)
    assert gpu.log.end() == before
    if fault == "reserved":
        gpu.happens(f"lab-controller/{LAB}", LabControllerDisabled())
        with pytest.raises(Refused, match="or cancel the jobs and return the reservations, then repeat"):
            gpu.ask(configure_partition, as_admin(), GPU, wanted)
        gpu.ask(return_system, as_admin(), "a")
        assert names(gpu, GPU, LAB) is not None


NEW = {"fqdn": "new", "lab_controller": LAB, "owner": "root", "condition": "Automated", "pools": []}


@pytest.mark.parametrize("meanwhile", ["registered", "moved", "reserved", "named"])
def test_lab__changes_while_it_moves__no_change_is_missed(gpu: Town, meanwhile: str) -> None:
    """The first attempt conflicts in each case, and the second sees the change."""
    gpu.ask(register_system, as_admin(), {**NEW, "fqdn": "c", "lab_controller": OTHER_LAB})

    def change() -> None:
        if meanwhile == "registered":
            gpu.ask(register_system, as_admin(), NEW)
        elif meanwhile == "moved":
            gpu.ask(change_system, as_admin(), "c", NewSystemValues(lab_controller=LAB), lambda _: None)
        elif meanwhile == "reserved":
            gpu.ask(reserve_system, as_admin(), "a", ReservationRequest("eve", None, None))
        else:
            names(gpu, DEFAULT, LAB)

    with gpu.scene.apis[1].appended.preceded(change):
        if meanwhile in ("reserved", "named"):
            with pytest.raises(Refused if meanwhile == "reserved" else FaultyInput):
                names(gpu, GPU, LAB, process=1)
            assert partition_of_lab(gpu, LAB) == 1
            return
        names(gpu, GPU, LAB, process=1)
    moves = [each.event for each in gpu.log.load({f"lab-controller/{LAB}": 0})[f"lab-controller/{LAB}"]]
    joined = "new" if meanwhile == "registered" else "c"
    assert moves[-1] == LabControllerPartitionChanged(number_of(gpu, GPU), ["a", "b", joined])


NOT_IN_A_PARTITION = "its lab lab-1 is in no partition until a configuration names it"


def reserves(town: Town, fqdn: str) -> Committed | None:
    return town.ask(reserve_system, as_admin(), fqdn, ReservationRequest("eve", None, None))


def test_reserve__lab_is_in_no_partition__refused_until_a_configuration_names_it(gpu: Town) -> None:
    names(gpu, GPU, LAB)
    names(gpu, GPU)
    with pytest.raises(Refused, match=NOT_IN_A_PARTITION):
        reserves(gpu, "a")
    gpu.ask(lend_system, as_admin(), "a", "eve", None)
    with pytest.raises(Refused, match=NOT_IN_A_PARTITION):
        reserves(gpu, "a")
    # Neither the refused reservation nor the loan keeps the lab from a partition.
    names(gpu, DEFAULT, LAB)
    assert columns(gpu, reserves(gpu, "a")) == {1}


def test_reserve__lab_is_dropped_meanwhile__refused(gpu: Town) -> None:
    names(gpu, GPU, LAB)
    with (
        gpu.scene.apis[0].appended.preceded(lambda: names(gpu, GPU, process=1)),
        pytest.raises(Refused, match=NOT_IN_A_PARTITION),
    ):
        reserves(gpu, "a")
    names(gpu, DEFAULT, LAB)


@pytest.mark.parametrize("first", ["the lab", "the system"])
def test_system__changes_while_its_lab_moves__has_the_number_of_its_partition(gpu: Town, first: str) -> None:
    def change_owner() -> Committed | None:
        owner = NewSystemValues(owner="ada")
        return gpu.ask(change_system, as_admin(), "a", owner, lambda _: None, process=1)

    if first == "the lab":
        with gpu.scene.apis[1].appended.preceded(lambda: names(gpu, GPU, LAB)):
            assert columns(gpu, change_owner()) == {number_of(gpu, GPU)}
    else:
        with gpu.scene.apis[0].appended.preceded(change_owner):
            names(gpu, GPU, LAB)
        states = gpu.log.load({"system/a": 0})["system/a"]
        assert states[-1].partition == 1
        assert partition_of_lab(gpu, LAB) == number_of(gpu, GPU)


def test_system__moves_to_a_lab_of_another_partition__is_everybodys(gpu: Town) -> None:
    names(gpu, GPU, OTHER_LAB)
    done = gpu.ask(change_system, as_admin(), "a", NewSystemValues(lab_controller=OTHER_LAB), lambda _: None)
    assert columns(gpu, done) == {0}
    after = gpu.ask(change_system, as_admin(), "a", NewSystemValues(owner="ada"), lambda _: None)
    assert columns(gpu, after) == {number_of(gpu, GPU)}


def test_lab__that_a_configuration_names__cannot_be_removed(gpu: Town) -> None:
    names(gpu, GPU, OTHER_LAB)
    with pytest.raises(Refused, match="the configuration of partition gpu names lab controller lab-2"):
        gpu.ask(remove_document, as_admin(), "lab-controller", OTHER_LAB)
    names(gpu, GPU)
    with pytest.raises(Refused, match="lab-2 is in no partition"):
        gpu.ask(remove_document, as_admin(), "lab-controller", OTHER_LAB)
    names(gpu, DEFAULT, OTHER_LAB)
    names(gpu, DEFAULT)
    assert gpu.ask(remove_document, as_admin(), "lab-controller", OTHER_LAB) is not None


def submitted(town: Town, spec: JobSpec) -> tuple[int, Committed]:
    done = town.ask(submit_job, by("eve"), spec)
    return int(orjson.loads(done.answer or b"")["job_id"]), done


def usable(town: Town, fqdn: str) -> None:
    town.ask(change_system, as_admin(), fqdn, NewSystemValues(condition="Automated"), lambda _: None)


def test_job__names_a_partition__is_there_with_all_its_later_events(gpu: Town) -> None:
    # No system fits it: the scheduler of the partition says why.
    names(gpu, GPU, OTHER_LAB)
    number = number_of(gpu, GPU)
    _, done = submitted(gpu, of(GPU))
    assert columns(gpu, done) == {number}


def test_job__names_a_partition_without_labs__is_refused(gpu: Town) -> None:
    before = gpu.log.end()
    with pytest.raises(FaultyInput) as refused:
        submitted(gpu, of(GPU))
    assert str(refused.value) == "partition: gpu has no labs, so no job can run there"
    assert gpu.log.end() == before
    # Another process gives it a lab, which this one has not read yet.
    names(gpu, GPU, LAB, process=1)
    assert columns(gpu, submitted(gpu, of(GPU))[1]) == {number_of(gpu, GPU)}


def test_job__names_none_and_default_has_no_labs__is_in_default(gpu: Town) -> None:
    """The scheduler of `default` aborts what no lab could ever serve."""
    names(gpu, GPU, LAB, OTHER_LAB)
    gpu.ask(move_partition, as_admin(), GPU, DRAIN)
    assert columns(gpu, submitted(gpu, of())[1]) == {1}


def test_job__names_none__is_in_the_first_partition_whose_labs_could_serve_it(gpu: Town) -> None:
    usable(gpu, "a")
    assert columns(gpu, submitted(gpu, of())[1]) == {1}
    names(gpu, GPU, LAB)
    assert columns(gpu, submitted(gpu, of())[1]) == {number_of(gpu, GPU)}
    # Its trees are those of the labs there.
    assert columns(gpu, submitted(gpu, of(DEFAULT))[1]) == {1}
    gpu.ask(move_partition, as_admin(), GPU, DRAIN)
    assert columns(gpu, submitted(gpu, of())[1]) == {1}
    with pytest.raises(Refused, match="gpu is draining"):
        submitted(gpu, of(GPU))


@pytest.fixture
def two_labs(gpu: Town) -> Town:
    """Return the town with a usable system in each of both partitions, whose labs have the tree."""
    gpu.happens("distro-tree/1", DistroTreeChanged(**tree(1, [LAB, OTHER_LAB])))
    for fqdn, lab in {"c": LAB, "d": OTHER_LAB}.items():
        values = {"fqdn": fqdn, "lab_controller": lab, "arches": ["x86_64"], "type": "Machine"}
        gpu.ask(register_system, as_admin(), {**NEW, **values})
    names(gpu, GPU, OTHER_LAB)
    return gpu


ON_EITHER = RecipeSetSpec(Priority.Normal, (recipe(named("c", "d")),))


def warnings_of(town: Town, spec: JobSpec) -> list[dict[str, str]]:
    found: list[dict[str, str]] = orjson.loads(submitted(town, spec)[1].answer)["warnings"]
    return found


def test_job__leaves_default_only_because_of_its_state__has_a_warning(two_labs: Town) -> None:
    assert warnings_of(two_labs, of(None, ON_EITHER)) == []
    two_labs.ask(move_partition, as_admin(), DEFAULT, STOP)
    message = "the job is put into gpu: it names no partition, and partition default is stopped"
    assert warnings_of(two_labs, of(None, ON_EITHER)) == [{"where": "partition", "message": message}]
    # It names the partition, or no lab of `default` could serve it.
    assert warnings_of(two_labs, of(GPU, ON_EITHER)) == []
    on_d = RecipeSetSpec(Priority.Normal, (recipe(named("d")),))
    assert warnings_of(two_labs, of(None, on_d)) == []


def test_job__names_a_queue_of_a_stopped_partition__is_refused_with_both_partitions(two_labs: Town) -> None:
    def refusal(spec: JobSpec) -> str:
        with pytest.raises(FaultyInput) as refused:
            submitted(two_labs, spec)
        return str(refused.value)

    with_hw = configuration(queues={"queues": [{"name": "hw"}]})
    two_labs.ask(configure_partition, as_admin(), DEFAULT, with_hw)
    two_labs.ask(move_partition, as_admin(), DEFAULT, STOP)
    missing = 'queue: there is no queue "root.{}" in partition gpu'
    why = "where the job is put because it names no partition"
    assert refusal(of(None, ON_EITHER, queue="hw")) == (
        f"{missing.format('hw')}, {why}; partition default, which has it, is stopped"
    )
    assert refusal(of(GPU, ON_EITHER, queue="hw")) == missing.format("hw")
    assert refusal(of(None, ON_EITHER, queue="sw")) == f"{missing.format('sw')}, {why}"


@pytest.mark.parametrize("named", [GPU, None])
def test_job__partition_drained_meanwhile__no_job_follows(gpu: Town, named: str | None) -> None:
    usable(gpu, "a")
    names(gpu, GPU, LAB)
    before = gpu.log.end()
    with gpu.scene.apis[0].appended.preceded(
        lambda: gpu.ask(move_partition, as_admin(), GPU, DRAIN, process=1)
    ):
        if named is None:
            assert columns(gpu, submitted(gpu, of())[1]) == {1}
        else:
            with pytest.raises(Refused, match="gpu is draining"):
                submitted(gpu, of(named))
    assert gpu.since(before)[0] == ("partition/gpu", "partition.state-changed")


def locks(form: Any) -> Any:
    return raising(lambda report: locks_from_json(form, report))


def test_job__across_two_partitions__all_faults_at_once(gpu: Town) -> None:
    number, _ = submitted(gpu, of(DEFAULT))
    names(gpu, GPU, OTHER_LAB)
    gpu.ask(
        configure_partition,
        as_admin(),
        GPU,
        configuration(lab_controllers=[OTHER_LAB], limits={"placed_recipes": 1}),
    )
    locking = recipe(named("a"), locks=locks({"system": {"Exclusive": ["b"]}}))
    large = RecipeSetSpec(Priority.Normal, (locking, recipe(named("a"))))
    before = gpu.log.end()
    with pytest.raises(FaultyInput) as caught:
        submitted(gpu, of(GPU, large, depends_on=(Dependency(JOB, number),)))
    assert [fault.message for fault in caught.value.faults] == [
        f"job {number} is in another partition than gpu",
        "system b is in another partition than gpu",
        "needs 2 systems; the maximum of placed recipes (limits.placed_recipes) is 1 in partition gpu",
    ]
    assert gpu.log.end() == before
    assert columns(gpu, submitted(gpu, of(DEFAULT, depends_on=(Dependency(JOB, number),)))[1]) == {1}


def test_jobs_of_one_submission__name_several_partitions__refused(gpu: Town) -> None:
    jobs = [AcceptedJob(of(GPU)), AcceptedJob(of(DEFAULT))]
    with pytest.raises(FaultyInput, match="name several partitions"):
        gpu.ask(submit_jobs, by("eve"), jobs)
    names(gpu, GPU, LAB)
    done = gpu.ask(submit_jobs, by("eve"), [AcceptedJob(of(GPU)), AcceptedJob(of())])
    assert columns(gpu, done) == {number_of(gpu, GPU)}


def test_import__of_systems_of_several_partitions__refused(gpu: Town) -> None:
    names(gpu, GPU, OTHER_LAB)
    items = [
        ImportItem(
            InputLocation(f"systems[{index}]"), fqdn, {}, NewSystemValues(owner="ada", lab_controller=lab)
        )
        for index, (fqdn, lab) in enumerate({"a": LAB, "b": OTHER_LAB}.items())
    ]
    before = gpu.log.end()
    with pytest.raises(FaultyInput, match=r"has systems of several partitions \(default, gpu\)"):
        gpu.ask(import_systems, as_admin(), items, [])
    assert gpu.log.end() == before
    assert columns(gpu, gpu.ask(import_systems, as_admin(), items[:1], [])) == {1}


@pytest.fixture
def _no_read_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let removals find no unfinished sets and open jobs: there is no projector here."""

    async def none(*_: object) -> list[int]:
        return []

    for name in ("_unfinished_sets", "_open_jobs"):
        monkeypatch.setattr(remove_partition_module, name, none)


@pytest.mark.usefixtures("_no_read_models")
def test_submission__partition_is_removed_or_made_anew_before_it__no_job_of_a_removed_number(
    gpu: Town,
) -> None:
    """The first process still has the draining partition."""
    usable(gpu, "a")
    gpu.ask(move_partition, as_admin(), GPU, DRAIN)
    number = number_of(gpu, GPU)
    gpu.ask(remove_partition, as_admin(), GPU, force=True, process=1)
    with pytest.raises(FaultyInput, match='there is no partition "gpu"'):
        submitted(gpu, of(GPU))
    gpu.ask(create_partition, as_admin(), GPU, process=1)
    names(gpu, GPU, OTHER_LAB, process=1)
    assert columns(gpu, submitted(gpu, of(GPU))[1]) == {number + 1}


@pytest.mark.usefixtures("_no_read_models")
@pytest.mark.parametrize("meanwhile", ["started", "removed"])
def test_removal__partition_changes_meanwhile__is_refused(gpu: Town, meanwhile: str) -> None:
    gpu.ask(move_partition, as_admin(), GPU, DRAIN)

    def change() -> None:
        if meanwhile == "removed":
            gpu.ask(remove_partition, as_admin(), GPU, force=True)
        else:
            for move in (START, DRAIN):
                gpu.ask(move_partition, as_admin(), GPU, move)

    with (
        gpu.scene.apis[1].appended.preceded(change),
        pytest.raises(Refused, match="changed during its removal"),
    ):
        gpu.ask(remove_partition, as_admin(), GPU, force=True, process=1)
    assert (gpu.document_of("partition", GPU) is None) == (meanwhile == "removed")


@pytest.mark.parametrize("first", [GPU, DEFAULT])
def test_lab__named_by_two_at_once__one_configuration_names_it(gpu: Town, first: str) -> None:
    second = DEFAULT if first == GPU else GPU
    with gpu.scene.apis[1].appended.preceded(lambda: names(gpu, first, LAB)), pytest.raises(FaultyInput):
        names(gpu, second, LAB, process=1)
    assert partition_of_lab(gpu, LAB) == (number_of(gpu, GPU) if first == GPU else 1)


def test_import__ends_a_recipe_while_the_lab_of_another_system_moves__is_decided_again(
    scheduled: Town,
) -> None:
    """The first attempt conflicts, although the number of the recipe would do for the whole commit."""
    gpu = scheduled
    gpu.ask(change_system, as_admin(), "b", NewSystemValues(lab_controller=OTHER_LAB), lambda _: None)
    gpu.ask(register_system, as_admin(), {**NEW, "arches": ["x86_64"], "type": "Machine"})
    gpu.scene.scheduler.settle()
    submitted(gpu, of(None, RecipeSetSpec(Priority.Normal, (recipe(named("new")),))))
    gpu.scene.scheduler.settle()
    assert gpu.state("system/new").recipe_id is not None
    broken = NewSystemValues(condition="Broken", reason="smoke")
    items = [
        ImportItem(InputLocation("systems[0]"), "new", {}, broken),
        ImportItem(InputLocation("systems[1]"), "b", {}, NewSystemValues(owner="ada")),
    ]
    with gpu.scene.apis[1].appended.preceded(lambda: names(gpu, GPU, OTHER_LAB)), pytest.raises(FaultyInput):
        gpu.ask(import_systems, as_admin(), items, [], process=1)
