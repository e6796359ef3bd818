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
        # The JSON object of the response.
        self.members: dict[str, Any] = {}
        self._title = title
        # The title of a 404 begins with its detail: `Job 3000 not found`.
        has_detail = title.casefold().startswith(detail.casefold())
        super().__init__(title if has_detail else f"{title}: {detail}" if title else detail)

    @property
    def title(self) -> str:
        return self._title


class Unreachable(LabledgerError):
    """The server cannot be reached."""

    def __init__(self, url: str, detail: str) -> None:
        self.url = url
        self.tries, self.waited_seconds = 1, 0.0
        self.detail = f"{url}: {detail}"
        self._cause = detail
        super().__init__(f"{self.title} at {url}: {detail}")

    def with_progress(self, progress: str) -> Unreachable:
        """Return this error with a text about the work that was done before it."""
        error = Unreachable(self.url, f"{self._cause}; {progress}")
        error.tries, error.waited_seconds = self.tries, self.waited_seconds
        return error


def problem_of(response: httpx.Response) -> ServerProblem:
    """Return the error of a response, which has the status line as title if the body has none."""
    return problem_in(_document(response), response.status_code, response.reason_phrase)


def problem_in(document: dict[str, Any], status: int, reason: str = "") -> ServerProblem:
    """Return the error in a document of RFC 9457."""
    title = str(document.get("title") or f"{status} {reason}")
    faults = tuple(
        Fault(str(fault.get("where", "")), str(fault.get("message", "")))
        for fault in document.get("errors") or ()
        if isinstance(fault, dict)
    )
    problem = ServerProblem(status, title, str(document.get("detail") or ""), faults)
    problem.members = document
    return problem


def _document(response: httpx.Response) -> dict[str, Any]:
    try:
        document = response.json()
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}
