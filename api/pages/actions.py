"""Actions of pages: what a form asks for, who may do it, and what it does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from pydantic import BaseModel

from api.pages.form_fields import Fields, FormField, read_model_form
from api.rest.ports import PageParts
from api.rest.routes import SUBMITTERS
from api.rest.views import View
from api.use_cases.ports import RequestContext
from domain.errors import FaultyInput, NotPermitted, Unknown
from store.requests import Committed

Facts: TypeAlias = dict[str, Any]
"""The answer of the HTTP API about the subject of an action."""
Perform = Callable[[PageParts, RequestContext, Any, Fields], Awaitable[Committed | None]]
"""A use case with the key of its subject; it returns None if nothing changes."""
Show = Callable[[PageParts, RequestContext, Fields], Awaitable[tuple[str, dict[str, Any]]]]
"""A use case that returns a template and its values."""
Answer = Callable[[PageParts, View, Any], Awaitable[tuple[int, Facts]]]
"""Returns the version of a subject and the facts about it."""
REASON = FormField("reason", "Reason", is_required=True)


@dataclass(frozen=True)
class Action:
    """An action on a subject, such as a job.

    `is_possible` says whether the state of the subject allows it. `require_may` blocks, and raises
    NotPermitted for a caller who may not. The change is made by `perform`, or by `show`, whose page answers
    the form because no other page shows the same; it has to take effect once by itself.
    `effect` says what the action does, and what it needs. It may be empty if `ends` says it.
    `ends` says what the action ends, for its confirmation; None if it ends nothing. An action that ends
    something has a required field `reason`. If the fields are those of a `model` of the HTTP API, the model
    checks them, and the form shows their present values, which `present` returns. `removes` says whether the
    subject has no page afterwards.
    """

    name: str
    label: str
    require_may: Callable[[PageParts, RequestContext, Any], object]
    effect: str = ""
    perform: Perform | None = None
    show: Show | None = None
    is_possible: Callable[[Facts], bool] = lambda _: True
    fields: tuple[FormField, ...] = ()
    ends: Callable[[Facts], str] | None = None
    model: type[BaseModel] | None = None
    present: Callable[[Facts], Facts] = lambda facts: facts
    removes: bool = False

    def __post_init__(self) -> None:
        if (self.perform is None) == (self.show is None):
            raise ValueError(f"action {self.name} must have either `perform` or `show`")
        if not self.effect and self.ends is None:
            raise ValueError(f"action {self.name} must say what it does, by `effect` or `ends`")
        required = {each.name for each in self.fields if each.is_required}
        if self.ends is not None and REASON.name not in required:
            raise ValueError(f"action {self.name} ends something, so it must require a reason")

    def fields_of(self, form: Mapping[str, str]) -> Fields:
        """Return the values of the fields. Raises FaultyInput with all faults."""
        if self.model is not None:
            return read_model_form(self.model, self.fields, form)
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

    `path` is that of its pages and of their list; some have only the list. `answer` returns the version of a
    subject and the facts about it. `load` blocks, and returns what the checks of its actions need, by default
    its key. `creation` makes a new one, whose key is in its field `key_field`; its form begins with the
    values of `proposed`.
    """

    kind: str
    path: str
    answer: Answer
    actions: tuple[Action, ...]
    load: Callable[[PageParts, Any], Any] = lambda _, key: key
    creation: Action | None = None
    key_field: str = ""
    proposed: Callable[[PageParts, RequestContext], Facts] = lambda *_: {}
    has_page: bool = True

    @property
    def word(self) -> str:
        return self.kind.replace("-", " ")

    def action(self, name: str | None) -> Action:
        """Return the action of this name, without one the creation. Raises Unknown."""
        if name is None and self.creation is not None:
            return self.creation
        for action in self.actions:
            if action.name == name:
                return action
        raise Unknown(f"action {name} of a {self.word}")


def right_by_form(_: PageParts, __: RequestContext, ___: Any) -> None:
    """Allow everybody with the role: the right depends on the systems in the form."""


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


async def offered_creation(
    parts: PageParts, request: RequestContext, view: View, subject: ActionSubject
) -> dict[str, str] | None:
    """Return path and label of the creation on the list of a kind; None if the caller may not create any."""
    creation = subject.creation
    if creation is None or view.is_past or view.principal.role not in SUBMITTERS:
        return None
    may = await asyncio.to_thread(_may, parts, request, creation, None)
    return {"path": subject.path, "label": creation.label} if may else None


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
