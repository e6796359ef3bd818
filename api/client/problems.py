"""The errors of requests to the server."""

from __future__ import annotations

from typing import Any

import httpx

from domain.errors import Fault, LabledgerError


class ServerProblem(LabledgerError):
    """The server refused the request, `tries` times within `waited_seconds`."""

    def __init__(self, status: int, title: str, detail: str = "", faults: tuple[Fault, ...] = ()) -> None:
        self.status = status
        self.detail = detail
        self.faults = faults
        self.tries, self.waited_seconds = 1, 0.0
        # The whole JSON object of the answer.
        self.members: dict[str, Any] = {}
        self._title = title
        # The title of a 404 contains its detail: `Job 3000 not found`.
        is_said = title.casefold().startswith(detail.casefold())
        super().__init__(title if is_said else f"{title}: {detail}" if title else detail)

    @property
    def title(self) -> str:
        return self._title


class Unreachable(LabledgerError):
    """The server cannot be reached."""

    def __init__(self, url: str, detail: str) -> None:
        self.url = url
        self.tries, self.waited_seconds = 1, 0.0
        self.detail = f"{url}: {detail}"
        self._why = detail
        super().__init__(f"{self.title} at {url}: {detail}")

    def after(self, done: str) -> Unreachable:
        """Return this error with the work that was done before it."""
        error = Unreachable(self.url, f"{self._why}; {done}")
        error.tries, error.waited_seconds = self.tries, self.waited_seconds
        return error


def problem_of(answer: httpx.Response) -> ServerProblem:
    """Return the problem that an answer describes; for a body that is not JSON, its status line."""
    document = _document(answer)
    title = str(document.get("title") or f"{answer.status_code} {answer.reason_phrase}")
    faults = tuple(
        Fault(str(fault.get("where", "")), str(fault.get("message", "")))
        for fault in document.get("errors") or ()
        if isinstance(fault, dict)
    )
    problem = ServerProblem(answer.status_code, title, str(document.get("detail") or ""), faults)
    problem.members = document
    return problem


def _document(answer: httpx.Response) -> dict[str, Any]:
    try:
        document = answer.json()
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}
