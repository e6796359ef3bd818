"""Requests that quotas never refuse, because they undo an earlier one."""

from __future__ import annotations

import re

import pytest
from falcon.testing import create_asgi_req

from api.rest import routes
from api.rest.context import is_undoing

EVERY = [
    (re.sub(r"{.*?}", "1", path), method)
    for path, route in routes.API_ROUTES.items()
    for method in route.roles
]
ENDING = {
    *((path, method) for path, method in EVERY if method == "DELETE"),
    *((path, "POST") for path in ("/jobs/1/cancel", "/recipe-sets/1/cancel", "/recipes/1/return")),
}


@pytest.mark.parametrize(("path", "method"), EVERY)
def test_request__of_every_path_and_method__ends_something_or_has_a_quota(path: str, method: str) -> None:
    assert is_undoing(create_asgi_req(method=method, path=path)) == ((path, method) in ENDING)


def test_request__about_a_name_that_looks_like_an_ending__has_a_quota() -> None:
    assert not is_undoing(create_asgi_req(method="PUT", path="/groups/cancel"))
