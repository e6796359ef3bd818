from __future__ import annotations

from api.rest.contract.openapi import plain
from domain.directory.roles import SUBMITTER
from tests.docs.access import CONDITIONS, PAGE, REGENERATE, conditions, operations, page

# Any submitter may do these, for their own session.
UNCONDITIONAL = {("POST", "/login")}


def test_access_page__routes_and_permissions_as_they_are__says_the_same() -> None:
    assert PAGE.read_text() == page(), f"docs/access.md is not what the code says; run `{REGENERATE}`"


def test_conditions__each__is_of_an_operation() -> None:
    assert CONDITIONS.keys() <= {(method, plain(path)) for path, method, _ in operations()}


def test_changes__open_to_submitters__have_a_condition() -> None:
    unbound = {
        (method, plain(path))
        for path, method, route in operations()
        if method != "GET" and SUBMITTER in route.roles[method] and not conditions(plain(path), method, route)
    }
    assert unbound <= UNCONDITIONAL
