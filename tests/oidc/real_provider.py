"""A real provider in a process of its own, and a browser in which a person signs in there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from urllib.parse import urljoin

import httpx
import pytest

from tests.harness.http_options import LOCAL_HTTP
from tests.harness.packaging import TOP
from tests.harness.running import free_port
from tests.harness.waiting import wait_until

REQUIRED = "LABLEDGER_TEST_OIDC"
INSTALLED = TOP / "build" / "oidc-provider"
CLIENT, SECRET = "labledger", "a secret of the tests"
FORM = re.compile(r"<form[^>]*>.*?</form>", re.DOTALL)
ACTION = re.compile(r'<form[^>]*\baction="([^"]*)"')
HIDDEN = re.compile(r'<input[^>]*type="hidden"[^>]*name="([^"]*)"[^>]*value="([^"]*)"')


@contextmanager
def real_provider(redirect_uri: str) -> Iterator[str]:
    """Yield the issuer; skip the test without the provider, unless the run requires it."""
    node = shutil.which("node")
    if node is None or not (INSTALLED / "node_modules").exists():
        missing = "the provider is not installed: run .ci/oidc-provider"
        if os.environ.get(REQUIRED) == "required":
            pytest.fail(missing)
        pytest.skip(missing)
    port = free_port()
    issuer = f"http://127.0.0.1:{port}"
    command = [node, "server.mjs", str(port), redirect_uri, CLIENT, SECRET]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, cwd=INSTALLED, stdin=quiet, stdout=quiet, stderr=quiet)
    try:
        wait_until(lambda: process.poll() is not None or _is_there(issuer), "the provider to answer")
        assert process.poll() is None, "the provider has ended"
        yield issuer
    finally:
        process.terminate()
        process.wait(30)


def _is_there(issuer: str) -> bool:
    try:
        return httpx.get(f"{issuer}/.well-known/openid-configuration", **LOCAL_HTTP).is_success
    except httpx.TransportError:
        return False


class Person:
    """A person with a browser, who fills in the forms of the provider."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._http = httpx.Client(timeout=60, **LOCAL_HTTP)

    def close(self) -> None:
        self._http.close()

    def sign_in(self, address: str, issuer: str, user_code: str = "", *, aborts: bool = False) -> str:
        """Follow the pages of the provider from an address; return the address to which they lead back.

        Without one, return the text of the last page.
        """
        answer = self._http.get(address)
        for _ in range(20):
            if answer.is_redirect:
                address = urljoin(str(answer.url), answer.headers["location"])
                if not address.startswith(issuer):
                    return address
                answer = self._http.get(address)
            elif forms := FORM.findall(answer.text):
                if aborts and (found := re.search(r'href="([^"]*/abort)"', answer.text)):
                    answer = self._http.get(urljoin(str(answer.url), unescape(found[1])))
                else:
                    answer = self._submit(answer, forms[0], user_code)
            else:
                return answer.text
        raise AssertionError(f"the provider leads nowhere: {answer.text}")

    def _submit(self, page: httpx.Response, form: str, user_code: str) -> httpx.Response:
        fields = {unescape(name): unescape(value) for name, value in HIDDEN.findall(form)}
        if 'name="login"' in form:
            fields |= {"login": self.name, "password": "any"}
        if 'name="user_code"' in form and "user_code" not in fields:
            fields["user_code"] = user_code
        action = ACTION.search(form)
        assert action is not None
        return self._http.post(urljoin(str(page.url), unescape(action[1])), data=fields)
