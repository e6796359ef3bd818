"""Groups of an import from Beaker: members that join and leave, and new groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from api.intake.beaker_csv import BeakerRow
from api.use_cases.beaker_decision import BeakerDecision, Outcome
from api.use_cases.beaker_edits import group_after
from api.use_cases.many_systems import CollectedErrors
from api.use_cases.ports import RequestContext, WriteParts
from api.use_cases.put_document import StaleReferences, decide_put
from domain.directory.state import Directory
from domain.errors import Fault, unknown_name
from domain.system.differences import differences

KIND = "group"


class GroupsDecision(BeakerDecision):
    """A decision on groups; of the `stale` ones, systems have references to remove before."""

    def __init__(self) -> None:
        super().__init__()
        self.stale: list[str] = []


def decide_groups(
    parts: WriteParts,
    request: RequestContext,
    groups: Mapping[str, Sequence[BeakerRow]],
    errors: CollectedErrors,
) -> GroupsDecision:
    """Return the decision on the groups with these rows; the errors are added to `errors`."""
    directory, decision = parts.feed.directory, GroupsDecision()
    for name, rows in groups.items():
        faults = [*_unknown_users(directory, rows)]
        errors.faults += faults
        if faults or any(row.faulty for row in rows):
            continue
        entry = directory.get(KIND, name)
        before = None if entry is None else entry.document
        after = group_after(rows, before)
        if before is None and not after["members"]:
            # Nothing to remove from a group that does not exist.
            continue
        shown = {field: (before or {}).get(field) for field in after}
        changes = differences(shown, after)
        with errors.collecting():
            try:
                decided, versions = decide_put(parts, request, KIND, name, after) if changes else ([], {})
            except StaleReferences:
                decision.stale.append(name)
                decided, versions = [], {}
            decision.decided += decided
            decision.versions |= versions
            decision.outcomes[name] = Outcome.of(changes, is_new=before is None)
    return decision


def _unknown_users(directory: Directory, rows: Sequence[BeakerRow]) -> Iterator[Fault]:
    for row in rows:
        user = row.values.get("user")
        if user is not None and not row.values.get("deleted") and directory.get("user", user) is None:
            yield row.fault("user", unknown_name("user", user))
