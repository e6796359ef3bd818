"""The words in which people read stored reasons."""

from __future__ import annotations

import pytest

from domain.scheduling.supply import reasons
from domain.scheduling.supply.reasons import SHOWN, shown_reason

STORED = {
    text
    for name, value in vars(reasons).items()
    if name.isupper() and value is not SHOWN
    for text in (value.values() if isinstance(value, dict) else (value,) if isinstance(value, str) else value)
}


def test_table__every_row__is_of_a_stored_reason() -> None:
    assert SHOWN.keys() <= STORED


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("no idle system is viable", "no usable system is free"),
        (
            "its set let go: it could not be completed, or stood in the way of others",
            "its recipe set released its systems to avoid a deadlock",
        ),
        # A suffix names the trees concerned.
        (f"{reasons.TREE_AWAY}: 60 (Fedora-44)", "no lab has its distro tree now: 60 (Fedora-44)"),
        # A reason without a row, and the reason of a person.
        ("its watchdog expired", "its watchdog expired"),
        ("a.example.com is Broken: smells of smoke", "a.example.com is Broken: smells of smoke"),
        ("", ""),
    ],
)
def test_reason__stored__is_shown_in_the_words_of_the_table(stored: str, shown: str) -> None:
    assert shown_reason(stored) == shown
