"""The configuration and job filters of the partition: their events, document and version."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson
import pytest

from domain.admission.configuration import Configuration, configuration_to_json, stored_configuration
from domain.admission.job_filters import JobFilter
from domain.admission.predicates import Comparison
from domain.contention.operations import SHIPPED
from domain.directory.events import (
    PartitionConfigured,
    PartitionCreated,
    PartitionJobFilterPut,
    PartitionJobFilterRemoved,
    PartitionStateChanged,
)
from domain.directory.partition_states import DRAIN, move
from domain.directory.partitions import (
    PARTITION,
    configuration_of,
    configure,
    job_filter_of,
    job_filters_of,
    merged_table,
    operation_table,
    operations_in_force,
    partition_document,
    put_job_filter,
    remove_job_filter,
)
from domain.directory.state import Directory
from domain.errors import FaultyInput
from domain.events import Event, data_of, from_data
from tests.domain.directory.documents import apply

STRICT = stored_configuration({"order": {"assigned_first": "always"}, "limits": {"placed_recipes": 5}})
ADA = JobFilter("ada", 0, 17, Comparison("user", "=", "ada"), "RATE_LIMIT", 3, "one array")
ALL = JobFilter("all", 0, 3, None, "PAUSE")


def after(*changes: Event, directory: Directory | None = None) -> Directory:
    """Return a directory that has applied events of the partition, as the log stores them."""
    directory = directory or Directory()
    for event in changes:
        stored = orjson.loads(orjson.dumps(data_of(event)))
        loaded = from_data(event.TOPIC, event.VERSION, stored)
        apply(directory, PARTITION, loaded, directory.version(PARTITION) + 1)
    return directory


def document_after(*changes: Event) -> Any:
    return partition_document(after(*changes))


def test_partition__before_its_first_event__has_the_defaults() -> None:
    directory = Directory()
    document = partition_document(directory)
    assert configuration_of(document) == Configuration()
    assert job_filters_of(document) == ()
    assert directory.version(PARTITION) == 0


def test_configure__other_content__is_in_force() -> None:
    (event,) = configure({}, STRICT)
    assert event == PartitionConfigured(configuration_to_json(STRICT))
    assert configuration_of(document_after(event)) == STRICT


def test_operation_table__configured_rows__are_added_and_replace_shipped_ones() -> None:
    rows = [{"operation": "reserve", "tasks": ["/keep"]}, {"operation": "move", "tasks": ["/move"]}]
    table = operation_table(after(*configure({}, stored_configuration({"operations": rows}))))
    assert table.operations_of("/keep", {}) == ("reserve",)
    assert table.operations_of("/distribution/reservesys", {}) == ()
    both = table.operations_of("/move", {"LABLEDGER_OPERATION": "firmware-update"})
    assert both == ("move", "firmware-update")
    for directory in (Directory(), after(*configure({}, STRICT))):
        assert operation_table(directory) is SHIPPED


def test_operation_table__asked_twice__is_parsed_once_and_follows_the_configuration() -> None:
    directory = after(*configure({}, stored_configuration({"operations": [{"operation": "move"}]})))
    table = operation_table(directory)
    assert operation_table(directory) is table
    after(*configure({}, stored_configuration({"operations": [{"operation": "scan"}]})), directory=directory)
    operations = [row.operation for row in operation_table(directory).rows]
    assert operations == [*(row.operation for row in SHIPPED.rows), "scan"]
    after(*put_job_filter({}, ADA), directory=directory)
    assert [row.operation for row in operation_table(directory).rows] == operations
    assert operation_table(Directory()) is SHIPPED


def test_operations_in_force__shipped_added_and_replaced_rows__have_their_source() -> None:
    shipped = operations_in_force({})
    assert {(each.source, each.replaces_shipped) for each in shipped} == {("shipped", False)}
    rows = [{"operation": "reserve", "tasks": ["/keep"]}, {"operation": "move"}]
    document = document_after(*configure({}, stored_configuration({"operations": rows})))
    found = {each.row.operation: each for each in operations_in_force(document)}
    assert (found["move"].source, found["move"].replaces_shipped) == ("configuration", False)
    assert (found["reserve"].source, found["reserve"].replaces_shipped) == ("configuration", True)
    assert found["reserve"].row.tasks == ("/keep",)
    others = [each for each in found.values() if each.row.operation not in ("move", "reserve")]
    assert others == [each for each in shipped if each.row.operation != "reserve"]


@pytest.mark.parametrize("configuration", [Configuration(), STRICT])
def test_configure__equal_content__no_event(configuration: Configuration) -> None:
    document = document_after(*configure({}, configuration))
    assert configure(document, configuration) == []
    # The defaults hold without a document.
    assert (configure({}, configuration) == []) == (configuration == Configuration())


def test_configure__back_to_the_defaults__is_a_change() -> None:
    document = document_after(*configure({}, STRICT))
    (event,) = configure(document, Configuration())
    assert configuration_of(document_after(*configure({}, STRICT), event)) == Configuration()


def test_put_job_filter__several__are_in_their_order() -> None:
    late = replace(ALL, name="late", priority=2)
    document = document_after(*(event for each in (late, ADA, ALL) for event in put_job_filter({}, each)))
    # By priority, then by watermark.
    assert job_filters_of(document) == (ALL, ADA, late)
    assert job_filter_of(document, "ada") == ADA
    assert job_filter_of(document, "eve") is None


def test_put_job_filter__event__has_the_canonical_document_with_watermark() -> None:
    predicate = {"field": "user", "op": "=", "value": "ada"}
    content = {"priority": 0, "predicate": predicate, "action": "RATE_LIMIT", "limit": 3}
    document = {**content, "reason": "one array", "watermark": 17}
    assert put_job_filter({}, ADA) == [PartitionJobFilterPut("ada", document)]


def test_put_job_filter__equal_content_later__no_event_and_its_watermark_stays() -> None:
    document = document_after(*put_job_filter({}, ADA))
    assert put_job_filter(document, replace(ADA, watermark=40)) == []
    # The same content under another name is another filter.
    assert put_job_filter(document, replace(ADA, name="eve")) != []


@pytest.mark.parametrize("change", [{"priority": 1}, {"limit": 4}, {"reason": ""}, {"predicate": None}])
def test_put_job_filter__other_content__replaces_it_with_a_new_watermark(change: dict[str, Any]) -> None:
    first = put_job_filter({}, ADA)
    later = replace(ADA, watermark=40, **change)
    second = put_job_filter(document_after(*first), later)
    assert job_filters_of(document_after(*first, *second)) == (later,)


def test_remove_job_filter__present_one__is_gone_and_may_be_put_again() -> None:
    puts = *put_job_filter({}, ADA), *put_job_filter({}, ALL)
    removed = remove_job_filter(document_after(*puts), "ada")
    assert removed == [PartitionJobFilterRemoved("ada")]
    (event,) = remove_job_filter(document_after(*puts), "ada", "over")
    assert event == PartitionJobFilterRemoved("ada", reason="over")
    document = document_after(*puts, *removed)
    assert job_filters_of(document) == (ALL,)
    assert remove_job_filter(document, "ada") == []
    assert put_job_filter(document, ADA) == put_job_filter({}, ADA)


def test_partition__configuration_and_job_filters__share_a_document_and_its_version() -> None:
    directory = after(*put_job_filter({}, ADA), *configure({}, STRICT), PartitionJobFilterRemoved("ada"))
    assert directory.version(PARTITION) == 3
    assert configuration_of(partition_document(directory)) == STRICT
    after(*put_job_filter({}, ALL), directory=directory)
    assert configuration_of(partition_document(directory)) == STRICT
    assert job_filters_of(partition_document(directory)) == (ALL,)


def test_partition__moved_with_a_reason__its_document_has_only_the_state() -> None:
    (event,) = move({}, DRAIN, "too hot")
    assert event == PartitionStateChanged("draining", reason="too hot")
    assert document_after(event) == {"state": "draining"}


def test_partition__restored_from_plain_values__is_equal() -> None:
    directory = after(*put_job_filter({}, ADA), *configure({}, STRICT))
    other = Directory()
    other.restore(orjson.loads(orjson.dumps(directory.plain())))
    assert other.version(PARTITION) == 2
    assert partition_document(other) == partition_document(directory)
    assert configuration_of(partition_document(other)) == STRICT
    assert job_filters_of(partition_document(other)) == (ADA,)


def test_configuration_of__stored_document_of_an_earlier_release__has_defaults_for_new_fields() -> None:
    document = {"configuration": {"order": {"assigned_first": "always"}}}
    assert configuration_of(document).order.max_overtaken == Configuration().order.max_overtaken


def test_configuration_of__stored_document_with_a_fault__raises_with_its_place() -> None:
    with pytest.raises(FaultyInput) as raised:
        configuration_of({"configuration": {"order": {"assigned_first": "never"}}})
    assert [fault.where for fault in raised.value.faults] == ["order.assigned_first"]


def test_job_filters_of__stored_document_with_a_fault__raises_with_its_place() -> None:
    stored = {"action": "NEVER", "watermark": 1}
    with pytest.raises(FaultyInput) as raised:
        job_filters_of({"job_filters": {"ada": stored}})
    assert [fault.where for fault in raised.value.faults] == ["ada.action"]


def test_merged_table__of_several_partitions__has_the_operations_of_all() -> None:
    directory = after(*configure({}, stored_configuration({"operations": [{"operation": "move"}]})))
    other = configure({}, stored_configuration({"operations": [{"operation": "scan"}]}))
    assert merged_table(Directory()) is SHIPPED
    for version, event in enumerate((PartitionCreated(2), *other), start=1):
        apply(directory, "partition/gpu", event, version)
    names = [row.operation for row in merged_table(directory).rows]
    assert {"move", "scan", *(row.operation for row in SHIPPED.rows)} == set(names)
    assert [row.operation for row in operation_table(directory, "gpu").rows][-1] == "scan"
