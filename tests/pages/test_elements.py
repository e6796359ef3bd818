"""Filters of the templates: durations, cut text, links of labs, and characters that cannot be seen."""

from __future__ import annotations

import pytest

from api.pages.elements import cut, duration, external_link, lock_text, visible


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


def test_lock_text__with_and_without_names__begins_with_the_mode() -> None:
    assert lock_text({"Shared": ["a", "b"]}) == "Shared: a, b"
    assert lock_text("AllShared") == "AllShared"
