"""The page on which a job is written, checked and submitted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, Final

import orjson
from falcon.asgi import Request, Response
from pydantic import Field

from api.intake.bodies import body_of
from api.pages.forms import (
    FORM_WITH_FILES,
    KEY,
    VERSION,
    form_request,
    new_key,
    read_form,
    require_own_form,
)
from api.pages.page import page_view, show
from api.pages.security import HTML
from api.pages.sessions import see
from api.rest.context import principal_of, query_of
from api.rest.contract.operation import MAX_BODY_BYTES, operation
from api.rest.contract.queries import ReadQuery, RerunQuery
from api.rest.contract.query_values import MAX_NUMBER, Number, whole_number
from api.rest.contract.values import OneOf
from api.rest.ports import PageParts
from api.rest.resources.matches import matches_answer
from api.rest.resources.reruns import rerun_draft, rerun_edited
from api.rest.resources.submissions import submit_body
from api.use_cases.idempotency import commit_once
from domain.errors import Fault, FaultyInput, LabledgerError, Refused, Unreadable
from domain.job.submission import Original
from store.requests import Committed

SAMPLES: Final = ("kernel-smoke", "guests", "nfs-multihost", "pinned")
# The other fields of the form, and the boundaries between its parts.
_FORM_BYTES: Final = 16 << 10
# Reasons against systems in the preview of a recipe, the most frequent first.
_MAX_REASONS: Final = 10
_SHOWN: Final = ("where", "why_never", "estimate")
_LINE: Final = re.compile(r"line (\d+)(?:, |$)")


class DraftQuery(RerunQuery):
    rerun: Annotated[Number | None, Field(description="begin with a copy of this job")] = None
    sample: Annotated[str | None, OneOf(SAMPLES), Field(description="begin with this sample")] = None


class SubmissionPage:
    def __init__(self, parts: PageParts) -> None:
        self._parts = parts

    @operation("Show the page to submit a job", None, DraftQuery, gives=(HTML,))
    async def on_get(self, req: Request, resp: Response) -> None:
        query = query_of(req, DraftQuery)
        if query.rerun is None:
            await self._show(req, resp, {"text": "" if query.sample is None else _sample(query.sample)})
            return
        view, chosen = await page_view(req, self._parts), (query.failed, query.sets or None)
        copy = await rerun_draft(self._parts, view.at, view.principal, query.rerun, *chosen)
        draft = {"text": copy.original.content.decode(), "origin": str(query.rerun)}
        await self._show(req, resp, draft, notes=copy.warnings)

    @operation(
        "Check a job, or submit it",
        *(None, ReadQuery),
        takes=(FORM_WITH_FILES,),
        gives=(HTML,),
        max_bytes=MAX_BODY_BYTES + _FORM_BYTES,
    )
    async def on_post(self, req: Request, resp: Response) -> None:
        form = await read_form(req)
        require_own_form(req, form)
        text = form.get("file", "").strip() or form.get("text", "")
        draft = {**form, "text": text.replace("\r\n", "\n")}
        try:
            if "send" in form:
                done = await self._submit(req, draft)
                see(resp, f"/ui/jobs/{_first_job(done)}?min_position={done.position}")
                return
            preview = await self._preview(req, draft["text"])
        except (FaultyInput, Refused) as error:
            await self._show(req, resp, draft, error=error)
            return
        await self._show(req, resp, draft, preview=preview)

    async def _submit(self, req: Request, draft: Mapping[str, str]) -> Committed:
        request = form_request(req, {**draft, VERSION: "0"})
        original, origin = Original(*body_of(draft["text"], "text")), _origin_of(draft)

        async def submit() -> Committed:
            if origin is not None:
                return await rerun_edited(self._parts, principal_of(req), request, origin, original)
            return await submit_body(self._parts, principal_of(req), request, original)

        done = await commit_once(self._parts.log, request, submit)
        assert done is not None, "a submission is always something new"
        return done

    async def _preview(self, req: Request, text: str) -> dict[str, Any]:
        """Return for each recipe how many systems are viable, why others are not, and what would happen."""
        _, found = await matches_answer(self._parts, principal_of(req), *body_of(text, "text"))
        recipes = [
            {**_counted(recipe["systems"]), **{name: recipe[name] for name in _SHOWN}}
            for recipe in found["recipes"]
        ]
        aborted_count = sum(recipe["why_never"] is not None for recipe in recipes)
        return {"recipes": recipes, "aborted_count": aborted_count, "warnings": found["warnings"]}

    async def _show(
        self,
        req: Request,
        resp: Response,
        draft: Mapping[str, str],
        *,
        preview: Mapping[str, Any] | None = None,
        notes: Sequence[Fault] = (),
        error: LabledgerError | None = None,
    ) -> None:
        faults = error.faults if isinstance(error, FaultyInput) else ()
        if error is not None:
            resp.status = 422 if faults or isinstance(error, Unreadable) else 409
        values = {
            "text": draft["text"],
            "origin": _origin_of(draft),
            "notes": notes,
            "samples": SAMPLES,
            "preview": preview,
            "faults": _beside_lines(draft["text"], faults),
            "refusal": None if error is None or faults else str(error),
            "key": draft.get(KEY) or new_key() if preview else new_key(),
        }
        await show(req, resp, self._parts, None, "submit.html", values)


@cache
def _sample(name: str) -> str:
    return (files("replay") / "samples" / f"{name}.xml").read_text("utf-8")


def _origin_of(draft: Mapping[str, str]) -> int | None:
    """Return the job that the form has copied, None if the form has a new job.

    Raises FaultyInput for a number that no job can have.
    """
    text = draft.get("origin")
    if not text:
        return None
    number = whole_number(text)
    if number is None or not 1 <= number <= MAX_NUMBER:
        raise FaultyInput([Fault("origin", "must be the number of a job")])
    return number


def _first_job(done: Committed) -> int:
    answer = orjson.loads(done.answer or b"{}")
    first: int = (answer["jobs"][0] if "jobs" in answer else answer)["job_id"]
    return first


def _counted(systems: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the number of viable systems, and the numbers of the others by reason."""
    viable = sum(system["viable"] for system in systems)
    reasons = Counter(reason for system in systems for reason in system["reasons"])
    return {
        "viable": viable,
        "others": len(systems) - viable,
        "reasons": [
            {"reason": reason, "systems": number} for reason, number in reasons.most_common(_MAX_REASONS)
        ],
    }


def _beside_lines(text: str, faults: Sequence[Fault]) -> list[dict[str, Any]]:
    """Return the faults with their lines of the text, in the order of the lines, which locations omit."""
    lines = text.split("\n")
    found = []
    for fault in faults:
        located = _LINE.match(fault.where)
        number = int(located[1]) if located else None
        line = lines[number - 1] if number is not None and number <= len(lines) else ""
        where = fault.where if located is None else fault.where[located.end() :]
        found.append({"line": number, "text": line, "where": where, "message": fault.message})
    return sorted(found, key=lambda each: each["line"] or 0)
