"""The forms of actions: a confirmation that says what ends, and the change, which takes effect once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from falcon.asgi import Request, Response

from api.pages.actions import Action, ActionSubject, Facts
from api.pages.form_fields import Fields, faults_by_field
from api.pages.forms import FORM, VERSION, form_request, new_key, read_form, require_own_form
from api.pages.page import page_view, show
from api.pages.rendering import plain
from api.pages.security import HTML
from api.pages.sessions import see
from api.rest.context import query_of, request_of
from api.rest.contract.operation import operation
from api.rest.contract.queries import ReadQuery
from api.rest.paging import position_of
from api.rest.ports import PageParts
from api.use_cases.idempotency import commit_once, done_before
from api.use_cases.ports import RequestContext
from domain.errors import (
    Fault,
    FaultyInput,
    LabledgerError,
    NotPermitted,
    Refused,
    Stale,
    Unknown,
    display_name,
)
from store.requests import Committed, Conflict


class ActionPages:
    """The forms of one kind of subject."""

    def __init__(self, parts: PageParts, subject: ActionSubject) -> None:
        self._parts = parts
        self._subject = subject

    @operation("Show the form of an action", None, ReadQuery, gives=(HTML,))
    async def on_get(self, req: Request, resp: Response, action: str | None = None, **key: Any) -> None:
        if query_of(req, ReadQuery).as_of is not None:
            raise FaultyInput([Fault("as_of", "a page about the past has no actions")])
        subject_key = next(iter(key.values()), None)
        found = self._subject.action(action)
        await asyncio.to_thread(self._require_may, request_of(req), found, subject_key)
        await self.show_form(req, resp, found, subject_key, {})

    @operation("Take an action", None, ReadQuery, takes=(FORM,), gives=(HTML,))
    async def on_post(self, req: Request, resp: Response, action: str | None = None, **key: Any) -> None:
        subject_key = next(iter(key.values()), None)
        found = self._subject.action(action)
        form = await read_form(req)
        require_own_form(req, form)
        request = form_request(req, form)
        await asyncio.to_thread(self._require_may, request, found, subject_key)
        try:
            await self._answer(req, resp, request, found, subject_key, form)
        except FaultyInput as error:
            await self.show_form(req, resp, found, subject_key, form, status=422, faults=error.faults)
        except (Refused, Conflict) as error:
            await self.show_form(req, resp, found, subject_key, form, status=409, refusal=error)
        except Stale as error:
            # A new subject has no version, so its name is taken.
            status, refusal = (412, error) if subject_key is not None else (409, self._already_there(form))
            await self.show_form(req, resp, found, subject_key, form, status=status, refusal=refusal)
        except Unknown as error:
            # A name in a field, unless the subject itself has been removed.
            missing = Refused(error.sentence)
            await self.show_form(req, resp, found, subject_key, form, status=409, refusal=missing)
        except NotPermitted as error:
            # The caller may take the action, but not with these values.
            await self.show_form(req, resp, found, subject_key, form, status=403, refusal=error)

    def _require_may(self, request: RequestContext, action: Action, key: Any) -> None:
        """Raise NotPermitted, or Unknown for a hidden subject. Blocking."""
        loaded = None if key is None else self._subject.load(self._parts, key)
        action.require_may(self._parts, request, loaded)

    async def _answer(
        self,
        req: Request,
        resp: Response,
        request: RequestContext,
        action: Action,
        key: Any,
        form: Mapping[str, str],
    ) -> None:
        """Take the action, and lead to the page of its subject.

        If the subject is removed, or the service has chosen its key, lead to the list.
        """
        fields = action.fields_of(form)
        if action.show is not None:
            template, values = await action.show(self._parts, request, fields)
            await show(req, resp, self._parts, None, template, values)
            return
        done = await self._take(request, action, key, fields)
        position = await position_of(self._parts.log, done)
        made = self._key(key, form)
        address = (
            f"/ui/{self._subject.path}" if action.removes or not made else f"/ui/{self._subject.path}/{made}"
        )
        see(resp, f"{address}?min_position={position}")

    async def _take(
        self, request: RequestContext, action: Action, key: Any, fields: Fields
    ) -> Committed | None:
        """Take the action once; a form that is sent again gets the first outcome, although it is stale."""
        assert action.perform is not None, "an action without `show` has it"
        log, perform = self._parts.log, partial(action.perform, self._parts, request, key, fields)
        try:
            return await commit_once(log, request, perform)
        except (Stale, Unknown):
            # Unknown: this form may have removed the subject.
            if (done := await done_before(log, request)) is None:
                raise
            return done

    async def show_form(
        self,
        req: Request,
        resp: Response,
        action: Action,
        key: Any,
        form: Mapping[str, str],
        *,
        status: int = 200,
        faults: Sequence[Fault] = (),
        refusal: LabledgerError | None = None,
        note: str = "",
    ) -> None:
        """Answer with the form, filled with `form`, for the present version of its subject.

        `note` says with what the form was filled.
        """
        version, answer = await self._facts(req, key)
        facts = await asyncio.to_thread(plain, answer)
        values = {
            **self._form_values(action, key, facts, form),
            "faults": faults_by_field(faults, action.fields),
            "refusal": None if refusal is None else str(refusal),
            "note": note,
            "changes": await self._changes(key, form) if status == 412 else [],
            "key": new_key(),
            "version": version,
        }
        resp.status = status
        # Without its view: a form is about the present, whenever it is sent.
        await show(req, resp, self._parts, None, "action.html", values)

    def _form_values(self, action: Action, key: Any, facts: Facts, form: Mapping[str, str]) -> dict[str, Any]:
        """Return the values of the template that describe the form, its action and its contents."""
        shown = action.present(facts) if action.model else {}
        is_possible = action.is_possible(facts)
        return {
            "subject": {
                "word": self._subject.word,
                "path": self._subject.path,
                "key": key,
                "has_page": self._subject.has_page,
            },
            "action": {"name": action.name, "label": action.label, "effect": action.effect},
            "fields": [each.element(facts) for each in action.fields],
            "is_possible": is_possible,
            "ends": action.ends(facts) if action.ends and is_possible else None,
            "given": {each.name: each.filled(form, shown) for each in action.fields},
        }

    async def _facts(self, req: Request, key: Any) -> tuple[int, Facts]:
        """Return the version of the subject, and the facts about it; of a new one, what is proposed."""
        if key is None:
            return 0, self._subject.proposed(self._parts, request_of(req))
        view = await page_view(req, self._parts)
        return await self._subject.answer(self._parts, view, key)

    def _already_there(self, form: Mapping[str, str]) -> Refused:
        return Refused(f"there is already a {display_name(self._subject.kind, self._key(None, form))}")

    def _key(self, key: Any, form: Mapping[str, str]) -> Any:
        """Return the key of the subject, or that in the form of a new one."""
        return form.get(self._subject.key_field, "").strip() if key is None else key

    async def _changes(self, key: Any, form: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return what has happened to the subject since the version of the form."""
        subject = f"{self._subject.kind}/{self._key(key, form)}"
        events = await asyncio.to_thread(self._parts.log.load, {subject: int(form[VERSION])})
        return [
            {"at": each.recorded_at, "actor": each.stamp.actor, "topic": each.event.TOPIC}
            for each in events[subject]
        ]
