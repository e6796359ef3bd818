"""The documents of the entries of the directory, as their events change them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from domain.directory import events as directory_events
from domain.events import Event, shown_of
from domain.queues.vanished import vanished_after

Document = Mapping[str, Any]

# Events of an entry that do not change its document.
MAX_EXTENSION_SECONDS: Final = 604_800
"""The maximum of extensions in a lab whose document has none: a week."""

_OUTSIDE_DOCUMENT = (
    directory_events.PoolSystemAdded,
    directory_events.PoolSystemRemoved,
    directory_events.UserPasswordSet,
    directory_events.UserNotificationsChanged,
)


def document_after(document: Document, event: Event) -> Document:
    """Return the document of an entry after an event; that of an entry not registered yet is {}."""
    if isinstance(event, directory_events.LabControllerEnabled | directory_events.LabControllerDisabled):
        return {**document, "enabled": isinstance(event, directory_events.LabControllerEnabled)}
    if isinstance(event, directory_events.PoolAccessPolicyChanged):
        return {**document, "access_policy": event.entries}
    if isinstance(event, _OUTSIDE_DOCUMENT):
        return document
    if isinstance(event, directory_events.REMOVED):
        return {}
    if isinstance(event, directory_events.LabControllerRegistered):
        never_heard = {"never_heard": True} if event.silent else {}
        return {**document, **shown_of(event), **never_heard}
    if isinstance(event, directory_events.LabControllerItemsRejected):
        return {**document, "rejected": shown_of(event)}
    if isinstance(event, directory_events.LabControllerPartitionChanged):
        return {**document, "partition": event.partition}
    if isinstance(event, directory_events.LabControllerSilent | directory_events.LabControllerHeard):
        heard = {name: value for name, value in document.items() if name != "never_heard"}
        return {**heard, "silent": isinstance(event, directory_events.LabControllerSilent)}
    if isinstance(event, directory_events.DistroTreeRegistered):
        return shown_of(event)
    if isinstance(event, directory_events.TokenRevoked):
        return {**document, "revoked": True}
    special = (
        _partition_after(document, event) or _window_after(document, event) or _in_ldap_after(document, event)
    )
    return special or {**document, **shown_of(event)}


def _in_ldap_after(document: Document, event: Event) -> Document | None:
    """Return the document of a user that LDAP has, or no longer has, None after any other event."""
    if isinstance(event, directory_events.UserFoundInLdap):
        return {**document, "ldap": "present"}
    if isinstance(event, directory_events.UserLeftLdap):
        return {**document, "ldap": "left", "roles": []}
    return None


def _window_after(document: Document, event: Event) -> Document | None:
    """Return the document of a new or ended maintenance window, None after any other event."""
    if isinstance(event, directory_events.MaintenanceWindowAdded):
        return {**shown_of(event), "systems": event.systems}
    if isinstance(event, directory_events.MaintenanceWindowEnded):
        return {**document, "ended_at": event.ended_at, "end_reason": event.reason}
    return None


def _partition_after(document: Document, event: Event) -> Document | None:
    """Return the document of a partition after a change of its state or rules, None for any other event."""
    if isinstance(event, directory_events.PartitionConfigured):
        return _configured(document, event)
    if isinstance(event, directory_events.PartitionStateChanged):
        return {**document, "state": event.state}
    if isinstance(event, directory_events.PartitionJobFilterPut):
        return {**document, "job_filters": {**document.get("job_filters", {}), event.name: event.document}}
    if isinstance(event, directory_events.PartitionJobFilterRemoved):
        filters = document.get("job_filters", {})
        others = {name: form for name, form in filters.items() if name != event.name}
        return {**document, "job_filters": others}
    return None


def _configured(document: Document, event: directory_events.PartitionConfigured) -> Document:
    """Return the document of a partition with a new configuration, and with the queues that vanish."""
    before = document.get("configuration", {}).get("queues", {})
    after = event.configuration.get("queues", {})
    vanished = vanished_after(document.get("vanished_queues", []), before, after)
    others = {field: value for field, value in document.items() if field != "vanished_queues"}
    return {**others, **shown_of(event), **({"vanished_queues": vanished} if vanished else {})}
