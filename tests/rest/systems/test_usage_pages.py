"""Pages of sums: each page continues after the previous one, in the order of the database."""

from __future__ import annotations

from typing import Any

import pytest

from api.rest.paging import PageAt
from api.rest.resources.usage import _page
from projections.reader import At

# In the order of a database with a language-specific collation.
KEYS: list[str | None] = ["alpha", "Beta", "gamma-1", "gamma1", "Gamma-2", None]


@pytest.mark.parametrize("limit", range(1, len(KEYS) + 2))
def test_page__groups_in_an_order_of_the_database__each_comes_once(limit: int) -> None:
    groups: list[dict[str, Any]] = [{"key": key, "seconds": {}} for key in KEYS]
    found, after = list[str | None](), ""
    for _ in KEYS:
        shown, last = _page(groups, PageAt(At(1), limit, after))
        found += [group["key"] for group in shown]
        if last is None:
            break
        after = last
    assert sorted(found, key=str) == sorted(KEYS, key=str)
