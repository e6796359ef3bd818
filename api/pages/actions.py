"""Actions of pages: what a form asks for, who may do it, and what it does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from api.rest.ports import PageParts
from api.rest.routes import SUBMITTERS
from api.rest.views import View
from api.use_cases.ports import RequestContext
from domain.errors import Fault, FaultyInput, NotPermitted, Unknown
from store.requests import Committed

Facts: TypeAlias = dict[str, Any]
"""The answer of the HTTP API about the subject of an action."""
Fields: TypeAlias = Mapping[str, str]
"""The values of a form by name; those that were left empty are missing."""
MAX_FIELD_LENGTH = 4_000


@dataclass(frozen=True)
class FormField:
    """A field of a form, a choice if it has `choices`."""

    name: str
    label: str
    choices: tuple[str, ...] = ()
    is_required: bool = False
    hint: str = ""

    def fault(self, value: str | None) -> Fault | None:
        """Return what is wrong with the value by itself."""
        if value is None:
            return Fault(self.name, "must not be empty") if self.is_required else None
        if len(value) > MAX_FIELD_LENGTH:
            return Fault(self.name, f"must have at most {MAX_FIELD_LENGTH} characters")
        if self.choices and value not in self.choices:
            return Fault(self.name, f"must be one of {', '.join(self.choices)}")
        return None


REASON = FormField("reason", "Reason", is_required=True)


@dataclass(frozen=True)
class Action:
    """An action on a subject, such as a job.

    `is_possible` says whether the state of the subject allows it. `require_may` blocks, and raises
    NotPermitted for a caller who may not. `perform` is a use case, and returns None if nothing changes.
    `ends` says what the action ends, for its confirmation; None if it ends nothing.
    """

    name: str
    label: str
    is_possible: Callable[[Facts], bool]
    require_may: Callable[[PageParts, RequestContext, Any], object]
    perform: Callable[[PageParts, RequestContext, Any, Fields], Awaitable[Committed | None]]
    fields: tuple[FormField, ...] = ()
    ends: Callable[[Facts], str] | None = None

    def fields_of(self, form: Mapping[str, str]) -> Fields:
        """Return the values of the fields. Raises FaultyInput with all faults."""
        given = {
            each.name: form[each.name].strip() for each in self.fields if form.get(each.name, "").strip()
        }
        faults = [fault for each in self.fields if (fault := each.fault(given.get(each.name))) is not None]
        if faults:
            raise FaultyInput(faults)
        return given


@dataclass(frozen=True)
class ActionSubject:
    """A kind of subject with its actions.

    `path` is that of its pages. `answer` returns the version of a subject and the facts about it. `load`
    blocks, and returns what the checks of its actions need, by default its key.
    """

    kind: str
    path: str
    answer: Callable[[PageParts, View, Any], Awaitable[tuple[int, Facts]]]
    actions: tuple[Action, ...]
    load: Callable[[PageParts, Any], Any] = lambda _, key: key

    @property
    def word(self) -> str:
        return self.kind.replace("-", " ")

    def action(self, name: str) -> Action:
        """Return the action of this name. Raises Unknown."""
        for action in self.actions:
            if action.name == name:
                return action
        raise Unknown(f"action {name} of a {self.word}")


async def offered(
    parts: PageParts, request: RequestContext, view: View, subject: ActionSubject, key: Any, facts: Facts
) -> list[dict[str, str]]:
    """Return name and label of the actions that the state of the subject and the caller's rights allow.

    A page about the past has none.
    """
    if view.is_past or view.principal.role not in SUBMITTERS:
        return []
    possible = [action for action in subject.actions if action.is_possible(facts)]
    permitted = await asyncio.to_thread(_permitted, parts, request, subject, possible, key)
    return [{"name": action.name, "label": action.label} for action in permitted]


def _permitted(
    parts: PageParts, request: RequestContext, subject: ActionSubject, actions: list[Action], key: Any
) -> list[Action]:
    loaded = subject.load(parts, key)
    # Actions of a subject often need the same right, which may take a query.
    verdicts: dict[Any, bool] = {}
    for action in actions:
        if action.require_may not in verdicts:
            verdicts[action.require_may] = _may(parts, request, action, loaded)
    return [action for action in actions if verdicts[action.require_may]]


def _may(parts: PageParts, request: RequestContext, action: Action, loaded: Any) -> bool:
    try:
        action.require_may(parts, request, loaded)
    except (NotPermitted, Unknown):
        return False
    return True
