"""The answer of the import from Beaker."""

from __future__ import annotations

from typing import Annotated

from api.rest.contract.answers.common import Answer, AnswerPart, FaultShape
from api.rest.contract.answers.inventory import PropertyChange
from api.rest.contract.answers.systems import BatchProblem
from api.rest.contract.values import OneOf
from domain.system.differences import OUTCOMES

BeakerOutcome = Annotated[str, OneOf(OUTCOMES)]


class BeakerSystem(AnswerPart):
    """A system of a partition whose commit succeeded.

    The property `hidden` in its changes: its policy does not let everybody view the system. Values of power
    settings (`power.secret` and so on) are `(not shown)`.
    """

    fqdn: str
    status: int
    outcome: BeakerOutcome
    changes: list[PropertyChange]


class BeakerGroup(AnswerPart):
    group: str
    outcome: BeakerOutcome
    changes: list[PropertyChange]


class NotImported(AnswerPart):
    """A kind of rows that is checked only, and the number of its rows."""

    kind: str
    rows: int
    reason: str


class BeakerImported(Answer):
    """The outcome for each system and group. `warnings` are about columns that are not imported, and
    power types that no other system has.
    """

    dry_run: bool
    systems: list[BeakerSystem | BatchProblem]
    groups: list[BeakerGroup]
    warnings: list[FaultShape]
    not_imported: list[NotImported]
