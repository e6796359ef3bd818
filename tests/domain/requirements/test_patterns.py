"""Patterns with `%` and `_`, with string methods and with regular expressions."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from domain.requirements.patterns import like

PIECES = st.text("ab%_.*", max_size=8)
TEXTS = st.text("ab.*\n", max_size=8)


def plainly(pattern: str, text: str) -> bool:
    expression = "".join({"%": ".*", "_": "."}.get(sign, re.escape(sign)) for sign in pattern)
    return re.fullmatch(expression, text, re.DOTALL) is not None


@given(PIECES, TEXTS)
# Head and tail would overlap.
@example("ab%ba", "aba")
@example("a%b%b", "ab")
# The leftmost match of a piece leaves no room for the tail.
@example("%ab%b", "abab")
@example("%%", "")
@example("", "")
def test_pattern__any__matches_like_a_plain_search(pattern: str, text: str) -> None:
    assert like(pattern)(text) is plainly(pattern, text)


def test_pattern__hostile__matched_in_linear_time() -> None:
    for pattern in ("%a" * 120 + "%b", "%_a" * 80 + "%b", "a%" * 120 + "b"):
        assert not like(pattern)("a" * 250 + "c")
