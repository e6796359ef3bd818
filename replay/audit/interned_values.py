"""Values that many recipes share, each stored once, to save memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from replay.audit.queue_tree import DEFAULT_QUEUE
from replay.audit.rights import Submitter
from replay.audit.values import Distro, OwnRequirements, Submitted


class InternedValues:
    """The requirements, submitters and submissions of one world. Equal values are the same object."""

    def __init__(self) -> None:
        # Each distinct requirement, by the number that `OwnRequirements` refers to.
        self.requirements: list[str] = []
        self._own_requirements: dict[tuple[str, Distro | None], OwnRequirements] = {}
        self._numbers: dict[str, int] = {}
        self._submitted: dict[Submitted, Submitted] = {}
        self._submitters: dict[tuple[str | None, str | None], Submitter] = {}

    def submitted(self, data: Mapping[str, Any]) -> Submitted:
        """Return the facts of a submission. Events of version 1 have none of them."""
        names = (tuple(data.get(name, ())) for name in ("tasks", "operations", "reasons"))
        people = data.get("owner", ""), data.get("submitter", ""), data.get("group")
        facts = Submitted(*people, data.get("queue") or DEFAULT_QUEUE, *names)
        return self._submitted.setdefault(facts, facts)

    def own_requirements(self, host_requires: str, distro: Distro | None) -> OwnRequirements:
        key = host_requires, distro
        if key not in self._own_requirements:
            number = self._numbers.setdefault(host_requires, len(self._numbers))
            if number == len(self.requirements):
                self.requirements.append(host_requires)
            self._own_requirements[key] = OwnRequirements(number, host_requires, distro)
        return self._own_requirements[key]

    def submitter(self, user: str | None, group: str | None) -> Submitter:
        key = user, group
        submitter = self._submitters.get(key)
        if submitter is None:
            submitter = self._submitters[key] = Submitter(*key)
        return submitter
