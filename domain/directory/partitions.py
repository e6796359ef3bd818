"""Partitions in the directory: their configuration and job filters, and the events that change these.

Each has a subject with a version for all of its rules. `default` needs no creation: until its first event,
its document is empty and the defaults hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary

from domain.admission.configuration import Configuration, configuration_to_json, stored_configuration
from domain.admission.job_filters import JobFilter, job_filter_to_stored, stored_job_filter
from domain.contention.operation_rows import OperationRow
from domain.contention.operations import SHIPPED, OperationTable
from domain.directory import events as directory_events
from domain.directory.state import Directory, DirectoryEntry
from domain.errors import Unknown, display_name
from domain.events import Event
from domain.partition_numbers import DEFAULT_NUMBER, DEFAULT_PARTITION, PartitionIdentity

KIND: Final = "partition"
LAB: Final = "lab-controller"
DEFAULT: Final = DEFAULT_PARTITION.name
PARTITION: Final = DEFAULT_PARTITION.subject

# The sources of rows of the operation table.
SHIPPED_ROW: Final = "shipped"
CONFIGURED_ROW: Final = "configuration"

Document = Mapping[str, Any]

# The merged tables of each directory by partition, each with its entry; parsing many rows takes milliseconds.
_TABLES: Final[WeakKeyDictionary[Directory, dict[str, tuple[DirectoryEntry, OperationTable]]]] = (
    WeakKeyDictionary()
)


def partition_document(directory: Directory, name: str = DEFAULT) -> Document:
    """Return the document of a partition; it is empty before the first event."""
    entry = directory.get(KIND, name)
    return {} if entry is None else entry.document


def identity_of(directory: Directory, name: str) -> PartitionIdentity | None:
    """Return the identity of the partition of this name, None without one."""
    if name == DEFAULT:
        return DEFAULT_PARTITION
    entry = directory.get(KIND, name)
    return None if entry is None else PartitionIdentity(entry.document["number"], name)


def existing_partition(directory: Directory, name: str) -> PartitionIdentity:
    """Return the identity of the partition of this name. Raises Unknown."""
    identity = identity_of(directory, name)
    if identity is None:
        raise Unknown(display_name(KIND, name))
    return identity


def identity_with(directory: Directory, number: int) -> PartitionIdentity:
    """Return the identity of the partition that has or had this number. Raises KeyError."""
    return PartitionIdentity(number, directory.partition_names[number])


def identities(directory: Directory) -> list[PartitionIdentity]:
    """Return the partitions that exist: `default`, then the others by name."""
    others = (
        PartitionIdentity(entry.document["number"], name)
        for name, entry in directory.items(KIND)
        if name != DEFAULT
    )
    return [DEFAULT_PARTITION, *sorted(others, key=lambda identity: identity.name)]


def number_of_lab(directory: Directory, lab: str) -> int:
    """Return the number of the partition of a lab, 0 for none; a lab that never moved is in `default`."""
    entry = directory.get(LAB, lab)
    number: int = DEFAULT_NUMBER if entry is None else entry.document.get("partition", DEFAULT_NUMBER)
    return number


def lab_of(directory: Directory, fqdn: str) -> str | None:
    """Return the lab of a system, None for an unknown system."""
    entry = directory.get("system", fqdn)
    return None if entry is None else entry.document["lab_controller"]


def systems_of_lab(directory: Directory, lab: str) -> list[str]:
    """Return the systems of a lab, in the order of their registration. Scans all systems."""
    return [fqdn for fqdn, entry in directory.items("system") if entry.document["lab_controller"] == lab]


def configuration_of(document: Document) -> Configuration:
    """Return the configuration in the document of a partition."""
    return stored_configuration(document.get("configuration", {}))


def operation_table(directory: Directory, name: str = DEFAULT) -> OperationTable:
    """Return the operation table in force: the shipped rows with those of the configuration."""
    entry = directory.get(KIND, name)
    # Most configurations have no rows, and each submission calls this function.
    if entry is None or not entry.document.get("configuration", {}).get("operations"):
        return SHIPPED
    tables = _TABLES.setdefault(directory, {})
    cached = tables.get(name)
    if cached is None or cached[0] is not entry:
        cached = tables[name] = entry, SHIPPED.merged_with(configuration_of(entry.document).operations)
    return cached[1]


def merged_table(directory: Directory) -> OperationTable:
    """Return a table of the operations of all partitions; a later partition's row replaces an equal name."""
    tables = [operation_table(directory, identity.name) for identity in identities(directory)]
    # Mostly none has rows of its own, and merging takes milliseconds.
    own = [table.rows for table in tables if table is not SHIPPED]
    return reduce(lambda merged, rows: merged.merged_with(rows), own, SHIPPED)


def max_placed_recipes(directory: Directory, name: str = DEFAULT) -> int | None:
    """Return the maximum number of placed host recipes, None without one. Cheap, for each submission."""
    limits = partition_document(directory, name).get("configuration", {}).get("limits", {})
    maximum: int | None = limits.get("placed_recipes")
    return maximum


class OperationInForce(NamedTuple):
    """A row of the operation table in force, and its source."""

    row: OperationRow
    source: str
    replaces_shipped: bool


def operations_in_force(document: Document) -> list[OperationInForce]:
    """Return the rows of `operation_table` with their sources; a configured row may replace a shipped one."""
    configured = configuration_of(document).operations
    names, shipped = ({row.operation for row in rows} for rows in (configured, SHIPPED.rows))
    return [
        OperationInForce(
            row,
            CONFIGURED_ROW if row.operation in names else SHIPPED_ROW,
            row.operation in names & shipped,
        )
        for row in SHIPPED.merged_with(configured).rows
    ]


def job_filters_of(document: Document) -> tuple[JobFilter, ...]:
    """Return the job filters in the document of a partition, in order."""
    filters = (stored_job_filter(name, form) for name, form in _filters(document).items())
    return tuple(sorted(filters, key=lambda job_filter: job_filter.place))


def job_filter_of(document: Document, name: str) -> JobFilter | None:
    """Return the job filter of this name, None if there is none."""
    form = _filters(document).get(name)
    return None if form is None else stored_job_filter(name, form)


def configure(document: Document, configuration: Configuration) -> list[Event]:
    """Return the event that changes the configuration; none if its content is that in force."""
    if configuration_of(document) == configuration:
        return []
    return [directory_events.PartitionConfigured(configuration_to_json(configuration))]


def put_job_filter(document: Document, job_filter: JobFilter) -> list[Event]:
    """Return the event that adds or replaces a job filter; none for equal content, whose watermark stays."""
    before = job_filter_of(document, job_filter.name)
    if before is not None and replace(job_filter, watermark=before.watermark) == before:
        return []
    return [directory_events.PartitionJobFilterPut(job_filter.name, job_filter_to_stored(job_filter))]


def remove_job_filter(document: Document, name: str, reason: str | None = None) -> list[Event]:
    """Return the event that removes a job filter; none if there is none of this name."""
    removed = directory_events.PartitionJobFilterRemoved(name, reason=reason)
    return [removed] if name in _filters(document) else []


def _filters(document: Document) -> Mapping[str, Document]:
    filters: Mapping[str, Document] = document.get("job_filters", {})
    return filters
