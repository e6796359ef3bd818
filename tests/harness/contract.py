"""Check of every answer that a test receives against `/openapi.json`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import httpx
import jsonschema

from tests.harness.http_options import LOCAL_HTTP

PROBLEM = "application/problem+json"
# Headers of Labledger itself, besides those of every HTTP server.
OURS = ("Labledger-Position", "Location", "ETag", "Link", "Retry-After", "WWW-Authenticate")
_UNDESCRIBED = (404, 405)


class Contract:
    """The OpenAPI document of one service."""

    def __init__(self, url: str) -> None:
        self._url = url

    @cached_property
    def document(self) -> dict[str, Any]:
        answer = httpx.get(f"{self._url}/openapi.json", timeout=20, **LOCAL_HTTP)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    @cached_property
    def _paths(self) -> list[tuple[re.Pattern[str], dict[str, Any]]]:
        return [(_pattern(path), described) for path, described in self.document["paths"].items()]

    def check(self, answer: httpx.Response) -> None:
        """Raise AssertionError for an answer that the document does not promise (an httpx response hook)."""
        kind = answer.headers.get("content-type", "").partition(";")[0]
        if kind == "text/event-stream":
            return
        answer.read()
        described = self._described(answer.request)
        if described is None:
            assert answer.status_code in _UNDESCRIBED and kind == PROBLEM, _story(answer)
            return
        promised = described["responses"].get(str(answer.status_code))
        assert promised is not None, f"{_story(answer)}: this status is not promised"
        self._has_promised_headers(answer, promised["headers"])
        kinds = {name.partition(";")[0]: shape for name, shape in promised["content"].items()}
        assert kind in kinds, f"{_story(answer)}: {kind} is not promised"
        if kind.endswith(("/json", "+json")):
            self._conforms(answer, kinds[kind]["schema"])

    def _has_promised_headers(self, answer: httpx.Response, promised: dict[str, Any]) -> None:
        needed = [name for name, header in promised.items() if header.get("required")]
        assert all(name in answer.headers for name in needed), (
            f"{_story(answer)}: a header of {needed} is missing"
        )
        unpromised = [name for name in OURS if name in answer.headers and name not in promised]
        assert not unpromised, f"{_story(answer)}: {unpromised} is not promised"

    def _described(self, request: httpx.Request) -> dict[str, Any] | None:
        path = request.url.path.rstrip("/")
        found = [described for pattern, described in self._paths if pattern.fullmatch(path)]
        return found[0].get(request.method.lower()) if found else None

    def _conforms(self, answer: httpx.Response, schema: dict[str, Any]) -> None:
        whole = {**schema, "components": self.document["components"]}
        validator = jsonschema.Draft202012Validator(whole)
        faults = [f"{error.json_path}: {error.message[:300]}" for error in _some(validator, answer.json())]
        assert not faults, f"{_story(answer)}: {faults}"


def _some(validator: Any, document: Any) -> Iterator[Any]:
    for number, error in enumerate(validator.iter_errors(document)):
        if number == 5:
            return
        yield error


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path)))


def _story(answer: httpx.Response) -> str:
    return f"{answer.request.method} {answer.request.url.raw_path.decode()} {answer.status_code}"
