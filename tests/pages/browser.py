"""A client that behaves as a browser does on loopback: it keeps the cookies and sends the origin."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

PASSWORD = "a password of the tests"
FORM_VALUE = re.compile(r'name="form_value" value="([0-9a-f]+)"')


class Browser:
    def __init__(self, url: str) -> None:
        self._client = httpx.Client(
            base_url=url, trust_env=False, timeout=30, headers={"Sec-Fetch-Site": "same-origin"}
        )
        self.cookies: dict[str, str] = {}

    def get(self, path: str, **more: Any) -> httpx.Response:
        return self._kept(self._client.get(path, headers=self._cookies(), **more))

    def post(self, path: str, fields: dict[str, str], **headers: str) -> httpx.Response:
        return self._kept(self._client.post(path, data=fields, headers={**self._cookies(), **headers}))

    @contextmanager
    def stream(self, path: str, params: Any, **headers: str) -> Iterator[httpx.Response]:
        """Yield an answer that goes on, such as a stream of events."""
        given = {**self._cookies(), "Accept": "text/event-stream", **headers}
        with self._client.stream("GET", path, params=params, headers=given, timeout=20) as answer:
            yield answer

    def upload(
        self,
        path: str,
        fields: dict[str, str],
        files: dict[str, tuple[str, bytes]] | list[tuple[str, tuple[str, bytes]]],
        **headers: str,
    ) -> httpx.Response:
        """Send a form with files, as the media type of such forms. A list may have a field several times."""
        parts: list[Any] = [(name, (None, value)) for name, value in fields.items()]
        parts += files.items() if isinstance(files, dict) else files
        return self._kept(self._client.post(path, files=parts, headers={**self._cookies(), **headers}))

    def log_in(self, user: str, password: str, **more: str) -> httpx.Response:
        value = form_value(self.get("/ui/login"))
        return self.post(
            "/ui/login", {"form_value": value, "user": user, "password": password, "role": "", **more}
        )

    def log_out(self) -> None:
        """Revoke the token of the login, if there is one, because the live tokens of a user have a quota."""
        home = self.get("/ui")
        if home.status_code == 200:
            self.post("/ui/logout", {"form_value": form_value(home)})

    def close(self) -> None:
        """Log out, because the number of live tokens of a user is limited, and close the connections."""
        if self.cookies and (found := FORM_VALUE.search(self.get("/ui").text)):
            self.post("/ui/logout", {"form_value": found[1]})
        self._client.close()

    def _cookies(self) -> dict[str, str]:
        return {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}

    def _kept(self, answer: httpx.Response) -> httpx.Response:
        for line in answer.headers.get_list("set-cookie"):
            for name, morsel in SimpleCookie(line).items():
                if morsel["expires"].endswith("1970 00:00:00 GMT"):
                    self.cookies.pop(name, None)
                else:
                    self.cookies[name] = morsel.value
        return answer


@contextmanager
def stream(browser: Browser, *pages: str, **headers: str) -> Iterator[Iterator[dict[str, Any]]]:
    """Yield the events of pages as they come."""
    with browser.stream("/ui/live", [("page", page) for page in pages], **headers) as answer:
        assert answer.status_code == 200, answer.read()
        yield (
            json.loads(line.removeprefix("data: "))
            for line in answer.iter_lines()
            if line.startswith('data: {"page"')
        )


def form_value(page: httpx.Response) -> str:
    """Return the value that binds the forms of a page to its login."""
    found = FORM_VALUE.search(page.text)
    assert found is not None, page.text
    return found[1]


def hidden_fields(page: str) -> dict[str, str]:
    """Return the key and the version of the form of a page."""
    return dict(re.findall(r'name="(key|form_version)" value="([^"]*)"', page))


def step(browser: Browser, to: str, at: int, direction: str) -> tuple[str, int | None]:
    """Follow a step link. Return the path that it leads to, and its position, None for the present."""
    answer = browser.get("/ui/step", params={"to": to, "at": at, "direction": direction})
    assert answer.status_code == 303, answer.text
    address = urlsplit(answer.headers["location"])
    as_of = parse_qs(address.query).get("as_of")
    return address.path, None if as_of is None else int(as_of[0])
