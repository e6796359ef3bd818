"""People with browsers, and the forms that they fill."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import MappingProxyType

from tests.harness.running import Running
from tests.pages.browser import PASSWORD, Browser, form_value, hidden_fields

ADMIN, OWNER, OTHER, AUDITOR = "admin", "olga", "oskar", "otto"
ROLES = {ADMIN: "admin", OWNER: "submitter", OTHER: "submitter", AUDITOR: "auditor"}


@contextmanager
def people_of(
    service: Running, roles: Mapping[str, str] = MappingProxyType(ROLES)
) -> Iterator[dict[str, Browser]]:
    """Yield a browser for each of these people, logged in with their role."""
    with service.client() as admin, ExitStack() as stack:
        found = {user: Browser(service.url) for user in roles}
        for user, browser in found.items():
            stack.callback(browser.close)
            if user != ADMIN:
                admin.put(f"/users/{user}", json={"roles": [roles[user]]}).raise_for_status()
                admin.put(f"/users/{user}/password", json={"password": PASSWORD}).raise_for_status()
            assert browser.log_in(user, PASSWORD, role=roles[user]).status_code == 303
        yield found


def filled(browser: Browser, address: str, **fields: str) -> dict[str, str]:
    """Return the fields of a form, with its hidden ones."""
    page = browser.get(address)
    assert page.status_code == 200, page.text
    return {"form_value": form_value(page), **hidden_fields(page.text), **fields}


def require_reason(service: Running, browser: Browser, address: str, **fields: str) -> None:
    """Check that a form without a reason is refused and stores nothing."""
    end = service.end()
    for reason in ("", " ", "x" * 4_001):
        refused = browser.post(address, filled(browser, address, **{**fields, "reason": reason}))
        assert refused.status_code == 422, refused.text
        assert re.search(r'id="reason-note"[^>]*><strong>must ', refused.text), refused.text
    assert service.end() == end


def reasons_after(service: Running, end: int) -> list[str]:
    """Return the reasons of the events after a position."""
    return [each["data"]["reason"] for each in service.events(end) if each["data"].get("reason")]


def shown(text: str, name: str) -> str | None:
    """Return the value of a field of a form."""
    patterns = (
        rf'<input id="{name}"[^>]* value="([^"]*)"',
        rf'<textarea id="{name}"[^>]*>\n([^<]*)</textarea>',
        rf'<select id="{name}"[^>]*>[^/]*(?:<option[^>]*>[^<]*</option>)*?<option selected>([^<]*)</option>',
    )
    found = [match[1] for each in patterns if (match := re.search(each, text))]
    return found[0] if found else None
