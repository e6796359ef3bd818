"""The live parts of pages: what a browser gets equals the page, also when only the changed rows are sent."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from api.pages.live.parts_of_page import LivePart, live_parts

AGE = re.compile(r"<span data-age>[^<]*</span>")
SAME = re.compile(r'<tr data-key="([^"]*)" data-same="(\d+)"></tr>')
KEYED = re.compile(r'<tr data-key="([^"]*)">.*?</tr>')

rows = st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 2)), max_size=5)
states = st.lists(st.tuples(st.lists(rows, max_size=3), st.booleans()), min_size=1, max_size=8)


def page_of(tables: list[list[tuple[str, int]]], age: int) -> str:
    """Return the HTML of a part with tables of keyed rows, and rows without a key."""
    texts = []
    for number, table in enumerate(tables):
        cells = "".join(
            f'<tr data-key="{key}"><td>{value}<span data-age>{age} s</span></td></tr>\n'
            for key, value in table
        )
        texts.append(f"<table><tr><th>{number}</th></tr>{cells}<tr><td>{len(table)}</td></tr></table>")
    return "<p>tables</p>".join(texts)


def updated(html: str, delta: str) -> str:
    """Return the HTML of a browser that had `html` and got what has changed."""
    had, tables = html.split("<table>"), []
    for number, table in enumerate(delta.split("<table>")):

        def kept(marker: re.Match[str], number: int = number) -> str:
            rows = list(KEYED.finditer(had[number]))
            first = next(place for place, row in enumerate(rows) if row[1] == marker[1])
            return "\n".join(row[0] for row in rows[first : first + int(marker[2])])

        tables.append(SAME.sub(kept, table))
    return "<table>".join(tables)


@given(states)
def test_part__browser_gets_changed_rows_now_and_then__has_the_whole_part(
    states: list[tuple[list[list[tuple[str, int]]], bool]],
) -> None:
    part, html, received = LivePart(), "", -1
    for position, (tables, is_sent) in enumerate(states):
        whole = page_of(tables, age=position)
        part.update(position, whole)
        if not is_sent or part.position <= received:
            continue
        html = part.html if received < 0 else updated(html, part.html_after(received))
        received = position
        assert AGE.sub("", html) == AGE.sub("", whole)


def test_part__one_row_of_many_changes__only_this_row_is_sent() -> None:
    part = LivePart()
    part.update(5, page_of([[("a", 1), ("b", 1), ("c", 1)]], age=1))
    part.update(7, page_of([[("a", 1), ("b", 2), ("d", 1)]], age=2))
    sent = part.html_after(5)
    assert SAME.findall(sent) == [("a", "1")]
    assert "<td>2" in sent and '<tr data-key="d"><td>' in sent
    # A browser that was there before the part, or has it already.
    assert SAME.findall(part.html_after(4)) == []
    assert SAME.findall(part.html_after(7)) == [("a", "3")]


def test_part__ages_alone__are_no_change() -> None:
    part = LivePart()
    part.update(5, page_of([[("a", 1)]], age=1))
    part.update(9, page_of([[("a", 1)]], age=2))
    assert part.position == 5


def test_part__rows_with_one_key__are_always_sent() -> None:
    part = LivePart()
    part.update(5, page_of([[("a", 1), ("a", 1)], [("a", 1)]], age=1))
    part.update(7, page_of([[("a", 1), ("a", 1)], [("a", 1), ("b", 1)]], age=1))
    assert SAME.findall(part.html_after(5)) == [("a", "1")]


def test_part__row_between_others_goes__ends_their_run() -> None:
    part = LivePart()
    part.update(5, page_of([[("a", 1), ("b", 1), ("c", 1), ("d", 1)]], age=1))
    part.update(7, page_of([[("a", 1), ("c", 1), ("d", 1)]], age=1))
    assert SAME.findall(part.html_after(5)) == [("a", "1"), ("c", "2")]


def test_live_parts__of_a_page__are_those_between_the_marks() -> None:
    page = '<div data-part="a"><div>1</div></div><!--/a--><div data-part="b">2</div><!--/b-->'
    assert live_parts(page) == {"a": "<div>1</div>", "b": "2"}


def test_live_parts__of_a_page_with_pictures__have_the_title_of_the_page() -> None:
    page = '<title>Job 1 &amp; all</title><div data-part="a"><svg><title>x</title></svg></div><!--/a-->'
    assert live_parts(page)["title"] == "Job 1 &amp; all"
