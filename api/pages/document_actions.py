"""The actions that documents of every kind have: create, change and remove."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from pydantic import BaseModel, create_model

from api.pages.actions import REASON, Action, ActionSubject, Answer, Facts, Perform
from api.pages.form_fields import Fields, FormField, fields_of_model
from api.rest.contract.values import Name
from api.rest.ports import PageParts
from api.rest.resources.documents import Documents
from api.rest.views import View
from api.use_cases.ports import RequestContext
from api.use_cases.remove_document import remove_document
from api.use_cases.remove_used import KINDS, remove_used
from api.use_cases.rights import may_put, require_admin
from domain.errors import display_name
from store.requests import Committed

OfKind = Callable[[PageParts], Documents]
"""Returns the resource of one kind of document."""


@dataclass(frozen=True)
class DocumentForms:
    """The forms of one kind of document; `key` is the name of the field of its key, with its type.

    `purpose` says what a new one is for.
    """

    of: OfKind
    kind: str
    model: type[BaseModel]
    purpose: str
    key: tuple[str, Any] = ("name", Name)
    hints: Mapping[str, str] = field(default_factory=dict)

    @property
    def word(self) -> str:
        return self.kind.replace("-", " ")

    def subject(self, *actions: Action, answer: Answer | None = None) -> ActionSubject:
        """Return the actions, and the creation of a document."""
        return ActionSubject(
            self.kind,
            f"{self.kind}s",
            answer or partial(_answer, self.of),
            actions,
            creation=self._creation(),
            key_field=self.key[0],
            proposed=lambda parts, _: self.of(parts).proposed(),
        )

    def _creation(self) -> Action:
        name, type_ = self.key
        fields: dict[str, Any] = {name: (type_, ...)}
        new: type[BaseModel] = create_model(f"New{self.model.__name__}", __base__=self.model, **fields)
        return Action(
            name="create",
            label=f"Create a {self.word}",
            effect=self.purpose,
            require_may=partial(_require_may_create, self.kind),
            perform=partial(_create, self.of, name),
            fields=fields_of_model(new, first=name, **self.hints),
            model=new,
        )

    def change(
        self,
        perform: Perform | None = None,
        model: type[BaseModel] | None = None,
        effect: str = "The values below replace all present ones.",
    ) -> Action:
        """Return the action that replaces a document, unless `perform` changes it by a `model` of its own."""
        model = model or self.model
        return Action(
            name="change",
            label=f"Change the {self.word}",
            effect=effect,
            require_may=partial(require_may_change, self.kind),
            perform=perform or partial(_change, self.of),
            fields=fields_of_model(model, **self.hints),
            model=model,
        )

    def removal(
        self, ends: str, perform: Perform | None = None, fields: tuple[FormField, ...] = ()
    ) -> Action:
        """Return the action that removes a document; `ends` says what it ends."""
        return Action(
            name="remove",
            label=f"Remove the {self.word}",
            require_may=partial(_require_may_remove, self.kind),
            perform=perform or partial(_remove, self.kind),
            fields=(*fields, REASON),
            ends=lambda _: ends,
            removes=True,
        )


async def _answer(of: OfKind, parts: PageParts, view: View, name: str) -> tuple[int, Facts]:
    return await of(parts).answer(view, name)


async def _create(
    of: OfKind, key: str, parts: PageParts, request: RequestContext, __: None, fields: Fields
) -> Committed | None:
    document = {name: value for name, value in fields.items() if name != key}
    _, done = await of(parts).put(request, fields[key], document)
    return done


async def _change(
    of: OfKind, parts: PageParts, request: RequestContext, name: str, fields: Fields
) -> Committed | None:
    _, done = await of(parts).put(request, name, dict(fields))
    return done


async def _remove(
    kind: str, parts: PageParts, request: RequestContext, name: str, fields: Fields
) -> Committed | None:
    if kind in KINDS:
        return await remove_used(
            parts, request, kind, name, force=fields["force"] == "yes", reason=fields["reason"]
        )
    return await remove_document(parts, request, kind, name, fields["reason"])


def _require_may_create(kind: str, parts: PageParts, request: RequestContext, _: None) -> None:
    may_put(parts.feed.directory, request, kind, None, {})


def require_may_change(kind: str, parts: PageParts, request: RequestContext, name: str) -> None:
    """Raise NotPermitted for a caller who may not change the document as it is."""
    entry = parts.feed.directory.get(kind, name)
    may_put(parts.feed.directory, request, kind, entry, entry.document if entry else {})


def _require_may_remove(kind: str, parts: PageParts, request: RequestContext, name: str) -> None:
    require_admin(request, f"remove {display_name(kind, name)}")
