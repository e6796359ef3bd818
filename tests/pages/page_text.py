"""The text of a page, and the facts of an answer that it lacks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from lxml import html

from tests.pages.browser import Browser


def page_of(browser: Browser, path: str, **params: Any) -> str:
    page = browser.get(f"/ui{path}", params=params)
    assert page.status_code == 200, page.text
    return page.text


def rows_of(text: str) -> list[str]:
    """Return the text of each row of the first table, with the exact times."""
    table = html.fromstring(text).find(".//table/tbody")
    return [element_text(row) for row in table if row.find("th") is not None]


def element_text(element: html.HtmlElement) -> str:
    times = " ".join(each.get("datetime") for each in element.iter("time"))
    return f"{' '.join(' '.join(element.itertext()).split())} {times}"


def percent(element: html.HtmlElement, name: str) -> float:
    """Return the number of an attribute that is a share of a picture."""
    return float(element.get(name).removesuffix("%"))


def facts_of(value: Any) -> Iterator[str | int | float]:
    """Yield the texts and numbers in a value. Truths and `*` are words on a page."""
    if isinstance(value, Mapping):
        yield from facts_of([value[name] for name in value if name not in ("position", "as_of", "next")])
    elif isinstance(value, list):
        for each in value:
            yield from facts_of(each)
    elif value not in (None, "*") and not isinstance(value, bool):
        yield value


def missing(facts: Any, text: str) -> list[Any]:
    """Return the facts that a text lacks."""
    found = map(str, facts_of(facts))
    return [fact for fact in found if not re.search(rf"(?<![\w-]){re.escape(fact)}(?![\w-])", text)]
