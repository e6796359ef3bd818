"""Filters of the templates: durations, cut text, links of labs, and characters that cannot be seen."""

from __future__ import annotations

import pytest

from api.pages.elements import (
    cut,
    duration,
    external_link,
    lock_text,
    log_links,
    result_cells,
    visible,
    whole_text,
)


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0 s"),
        (0.25, "0.2 s"),
        (59.9, "59 s"),
        (60, "1 min"),
        (3_661, "1 h 1 min"),
        # The hours between days and minutes are 0.
        (86_460, "1 d"),
        (100 * 86_400, "100 d"),
        (-1, "0 s"),
        (0.04, "0 s"),
    ],
)
def test_duration__seconds__two_largest_units(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown


def test_visible__controls_and_bidirectional_marks__are_escapes() -> None:
    assert visible("a\u202eb\x07c\u200bd\n") == "a\\u202eb\\x07c\\u200bd\n".replace("x07", "u0007")
    assert visible(7) == 7


def test_cut__long_text__ends_with_an_ellipsis() -> None:
    assert cut("x" * 201) == "x" * 200 + "…"
    assert cut("x" * 200) == "x" * 200
    assert cut(None) == ""


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "ftp://a/b", "//a/b", " http://a"]
)
def test_external_link__scheme_other_than_http__stays_text(url: str) -> None:
    assert "<a" not in external_link(url, "log")


def test_external_link__without_a_name__is_the_url_alone() -> None:
    assert external_link("nfs://a/b") == "nfs://a/b"
    assert external_link("http://a/b").endswith(">http://a/b</a>")


def test_external_link__http__does_not_name_this_page_to_the_lab() -> None:
    address = "https://logs.example.com/&#34;&gt;&lt;script&gt;"
    link = external_link('https://logs.example.com/"><script>', "<b>")
    assert link == f'<a href="{address}" rel="noreferrer noopener">&lt;b&gt;</a>'


def test_log_links__names_and_urls__are_escaped_and_apart() -> None:
    logs = [{"name": "<a>", "url": "https://a/1"}, {"name": "b", "url": "nfs://b"}]
    shown = str(log_links({"logs": logs, "log_urls": [f"http://c/{'x' * 60}"]}))
    assert "&lt;a&gt;</a>, b (nfs://b), <a " in shown and shown.endswith("x…</a>")


def test_whole_text__long_text__is_behind_a_click() -> None:
    assert whole_text(None) == "<bdi></bdi>"
    assert whole_text("x" * 200) == f"<bdi>{'x' * 200}</bdi>"
    long = "<" * 201
    assert f"<bdi>{'&lt;' * 200}…</bdi></summary><bdi>{'&lt;' * 201}</bdi>" in whole_text(long)


def test_result_cells__hostile_texts__appear_as_text() -> None:
    result = {"path": "/<b>", "result": "Fail", "score": 0.0, "message": "a\u202e<script>"}
    shown = str(result_cells(result))
    assert shown.startswith("<td><bdi>/&lt;b&gt;</bdi></td><td>Fail</td>")
    assert shown.endswith('<td class="number">0.0</td><td><bdi>a\\u202e&lt;script&gt;</bdi></td>')
    assert '<td class="number"></td>' in result_cells({**result, "score": None})


def test_lock_text__with_and_without_names__begins_with_the_mode() -> None:
    assert lock_text({"Shared": ["a", "b"]}) == "Shared: a, b"
    assert lock_text("AllShared") == "AllShared"
